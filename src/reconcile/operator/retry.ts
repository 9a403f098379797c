import { nounOf } from '../../kinds/lookup.ts'
import type { Key } from '../../kinds/key.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import { dismissIntent } from '../../plan/transitions.ts'
import {
  type OperatorResult,
  type OperatorContext,
  done,
  inRounds,
  nothingToResolve,
  refused,
  stillOnItsWay,
  historyLine,
  when,
} from './operator.ts'

/**
 * `resolve --retry`: the attempt created nothing, so that the next reconcile may create, with a new intent. Accepted once nothing of
 * the attempt can still be on its way to the platform.
 */
export function retryCreate(
  context: OperatorContext,
  key: Key,
  { force }: { readonly force: boolean },
): Promise<OperatorResult> {
  return inRounds(context, key, async (recorded) => {
    const intent = undecidedIntent(recorded)
    if (intent === undefined) return refused(nothingToResolve(recorded))
    const tooEarly = stillOnItsWay(context, key, intent)
    if (tooEarly !== undefined && !force) return refused(`${tooEarly} To take the risk now, add --force.`)
    const now = context.clock.now()
    const attempt = `Attempt ${intent.attempt} (intent ${intent.id})`
    const forced =
      tooEarly === undefined
        ? ''
        : ` With --force: if its request is still on its way, there will be two ${nounOf(key)}s.`
    await context.ledger.swap({ ...dismissIntent(recorded, intent, now), conditions: undefined }, [
      historyLine(context, recorded, {
        action: 'intent',
        reason: 'RetryApproved',
        result: 'failed',
        message: `An operator confirmed that ${attempt.charAt(0).toLowerCase()}${attempt.slice(1)} created nothing.${forced}`,
      }),
    ])
    const next =
      context.store.desiredState(key) === 'valid'
        ? 'It will be created again'
        : 'It has no valid manifest now, so nothing is created'
    return done(
      recorded,
      `${attempt} of ${key} resolved: it created nothing. ${next}${await when(context)}.${forced}`,
    )
  })
}
