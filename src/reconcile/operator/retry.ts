import { nounOf } from '../../kinds/lookup.ts'
import type { Key } from '../../kinds/key.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import { dismissIntent } from '../../plan/transitions.ts'
import type { OperatorResult } from '../../contract/person-command.ts'
import {
  conditionsToRenew,
  type OperatorContext,
  done,
  withRecord,
  nothingToResolve,
  refused,
  stillOnItsWay,
  historyLine,
} from './operator.ts'

/**
 * The attempt had no effect, and the next reconcile creates with a new intent. Accepted once the request
 * cannot arrive any more, or earlier with `--force`, at a risk.
 */
export function retryCreate(
  context: OperatorContext,
  key: Key,
  { force }: { readonly force: boolean },
): Promise<OperatorResult> {
  return withRecord(context, key, async (recorded) => {
    const intent = undecidedIntent(recorded)
    if (intent === undefined) return refused(nothingToResolve(recorded))
    const tooEarly = stillOnItsWay(context, key, intent)
    if (tooEarly !== undefined && !force) return refused(`${tooEarly} To take the risk now, add --force.`)
    const now = context.clock.now()
    const attempt = `Attempt ${intent.attempt} (intent ${intent.id})`
    const found = tooEarly === undefined ? 'created nothing' : 'not known'
    const risk = `If its request is still on its way, there will be two ${nounOf(key)}s.`
    const settled = dismissIntent(recorded, intent, { now, found })
    await context.ledger.swap({ ...settled, conditions: conditionsToRenew(settled.conditions, key, now) }, [
      historyLine(context, recorded, {
        action: 'intent',
        reason: 'RetryApproved',
        result: 'failed',
        message:
          found === 'created nothing'
            ? `An operator confirmed that ${lowered(attempt)} created nothing.`
            : `An operator set ${lowered(attempt)} aside with --force. Its outcome is unknown. ${risk}`,
      }),
    ])
    const next =
      context.store.desiredState(key) === 'valid'
        ? 'The next reconcile creates it again.'
        : 'It has no valid manifest now, so no resource is created.'
    return done(
      recorded,
      found === 'created nothing'
        ? `${attempt} of ${key} resolved: it created no resource. ${next}`
        : `${attempt} of ${key} is set aside, as --force says. Its outcome is unknown. ${next} ${risk}`,
    )
  })
}

function lowered(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
