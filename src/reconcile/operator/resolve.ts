import type { ReconcileContext } from '../context.ts'
import { nounOf, capital } from '../../kinds/lookup.ts'
import type { Key } from '../../kinds/key.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import { dismissIntent } from '../../plan/transitions.ts'
import type { OperatorResult } from '../../contract/person-command.ts'
import {
  conditionsToRenew,
  done,
  withRecord,
  nothingToResolve,
  refused,
  stillOnItsWay,
  historyLine,
} from './operator.ts'
import { createOnceKindOf } from '../../kinds/profile.ts'
import { sentence } from '../../plan/reasons/row.ts'
import type { LedgerRecord, Remote } from '../../plan/record.ts'
import { desiredService, recordedAccess } from '../gather/service-access.ts'
import type { ReadOptions } from '../../contract/platform.ts'
import { RemoteError } from '../../contract/remote-error.ts'
import { isRequestError } from '../apply/outcome-of-error.ts'

/** Refused while the request might still arrive, except with `--force`. */
export function retryCreate(
  context: ReconcileContext,
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
    const risk = `If the earlier request still arrives, there will be two ${nounOf(key)}s.`
    const settled = dismissIntent(recorded, intent, { now, found })
    await context.ledger.swap({ ...settled, conditions: conditionsToRenew(settled.conditions, now) }, [
      historyLine(context, recorded, {
        action: 'intent',
        because: {
          reason: 'New',
          facts: { is: found === 'not known' ? 'forced' : 'settled', attempt: intent.attempt },
        },
        result: 'failed',
      }),
    ])
    const next = nextWords(context, key, 'The next reconcile sends a new create.')
    return done(
      recorded,
      found === 'created nothing'
        ? `${attempt} of ${key} resolved: you confirm that it created no resource. ${next}`
        : `${attempt} of ${key} is given up because of --force. Its outcome is unknown. ${next} ${risk}`,
    )
  })
}

/** Takes a person's word and one 404 as proof that the pipe is gone. */
export function approveRecreate(
  context: ReconcileContext,
  key: Key,
  signal: AbortSignal,
): Promise<OperatorResult> {
  return withRecord(context, key, async (recorded) => {
    const { remote } = recorded
    if (undecidedIntent(recorded) !== undefined)
      return refused(
        `The last create of ${key} has no known outcome. Look for the resource in the console, and run "pipewright resolve ${key}": with --adopt <id> if it exists, else with --retry.`,
      )
    if (remote === undefined)
      return refused(`The ledger has no ${nounOf(key)} of ${key}: there is nothing to recreate.`)
    const why = await whyNotGone(context, recorded, remote, { priority: 0, signal })
    if (why !== undefined) return refused(why)
    const said = { ...remote, saidGoneAt: context.clock.now() }
    const message = `${capital(nounOf(key))} ${remote.id} is gone, as the operator confirmed.`
    await context.ledger.swap({ ...recorded, remote: said }, [
      historyLine(context, recorded, {
        action: 'report',
        because: { reason: 'New', facts: { is: 'gone', pipeId: remote.id } },
        result: 'done',
      }),
    ])
    const again = `The next reconcile reads the old ${nounOf(key)} once more. If it is still missing, Pipewright creates a new one.`
    const next = nextWords(context, key, again)
    return done(recorded, `${message} ${next}`)
  })
}

function nextWords({ store }: ReconcileContext, key: Key, ifWanted: string): string {
  if (store.desiredState(key) !== 'valid')
    return `${key} has no valid manifest now, so no resource is created.`
  const isUnwanted = store.entry(key)?.manifest?.policy?.ensure === 'absent'
  return isUnwanted ? 'policy.ensure is "absent", so no resource is created.' : ifWanted
}

async function whyNotGone(
  context: ReconcileContext,
  recorded: LedgerRecord,
  remote: Remote,
  options: ReadOptions,
): Promise<string | undefined> {
  const { key } = recorded
  const noun = nounOf(key)
  try {
    const found = await readRecorded(context, recorded, remote, options)
    if (found !== 'there') return found === 'missing' ? undefined : found.why
    return `${capital(noun)} ${remote.id} exists, so no resource is created. To replace the ${noun}, remove it in the console first.`
  } catch (error) {
    if (!isRequestError(error)) throw error
    return `No change was made: ${noun} ${remote.id} could not be read. ${sentence(error.message)}`
  }
}
/** If the pipe is there, clears an operator's report that it is gone. @throws request errors, except a 404 */
export async function readRecorded(
  { profile, store, platform, ledger }: ReconcileContext,
  recorded: LedgerRecord,
  remote: Remote,
  options: ReadOptions,
): Promise<'there' | 'missing' | { readonly why: string }> {
  const { key } = recorded
  const { id, saidGoneAt } = remote
  const access = recordedAccess(store, recorded, desiredService(store, store.entry(key)?.manifest))
  if (access === undefined) {
    const why = `${key} has ${nounOf(key)} ${id}, but its service has no valid manifest, so it cannot be read. Restore the Service manifest first.`
    return { why }
  }
  try {
    await platform.read({ kind: createOnceKindOf(profile, key), service: access, id }, options)
  } catch (error) {
    if (error instanceof RemoteError && error.facts.class === 'Missing') return 'missing'
    throw error
  }
  if (saidGoneAt !== undefined)
    await ledger.swap({ ...recorded, remote: { ...remote, saidGoneAt: undefined } }, [])
  return 'there'
}
