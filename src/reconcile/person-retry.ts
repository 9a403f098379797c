import type { Key } from '../kinds/key.ts'
import { undecidedIntent } from '../plan/outcome-unknown.ts'
import { dismissIntent } from '../plan/transitions.ts'
import type { Answer, PersonDeps } from './person.ts'
import { done, inFlight, inRounds, nothingToResolve, refused, told, when } from './person.ts'

/** `resolve --retry`: the attempt created nothing, so that the next turn may create, with a new intent. */
export function retryCreate(deps: PersonDeps, key: Key): Promise<Answer> {
  return inRounds(deps, key, async (recorded) => {
    const intent = undecidedIntent(recorded)
    if (intent === undefined) return refused(nothingToResolve(recorded))
    const wait = await inFlight(deps, key, intent)
    if (wait !== undefined) return refused(wait)
    const now = deps.clock.now()
    const attempt = `Attempt ${intent.attempt} (intent ${intent.id})`
    await deps.ledger.swap({ ...dismissIntent(recorded, intent, now), conditions: undefined }, [
      told(deps, recorded, {
        action: 'intent',
        reason: 'RetryApproved',
        result: 'failed',
        message: `${attempt} is said by a person to have created nothing.`,
      }),
    ])
    const next =
      deps.world.desiredState(key) === 'valid'
        ? 'The next turn creates it with a new intent'
        : 'As it has no valid manifest now, nothing is created'
    return done(recorded, `${attempt} of ${key} counts as failed without effect. ${next}${await when(deps)}.`)
  })
}
