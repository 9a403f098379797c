import type { Key } from '../../kinds/key.ts'
import { createOnceKindOf } from '../../kinds/lookup.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { LedgerRecord, Remote } from '../../plan/record.ts'
import { desiredService, recordedAccess } from '../gather/service-access.ts'
import {
  type OperatorResult,
  type OperatorContext,
  done,
  inRounds,
  refused,
  historyLine,
  when,
} from './operator.ts'
import { SecretUnavailableError } from '../../contract/secrets.ts'
import type { ReadOptions } from '../../contract/platform.ts'
import { RemoteError } from '../../contract/remote-error.ts'

/** `resolve --recreate`: the pipe of the key is gone; a new one is created without waiting for further proof. */
export function recreatePipe(
  context: OperatorContext,
  key: Key,
  signal: AbortSignal,
): Promise<OperatorResult> {
  return inRounds(context, key, async (recorded) => {
    const { remote } = recorded
    if (undecidedIntent(recorded) !== undefined)
      return refused(
        `The last create of ${key} has no known outcome. Settle that first: pipewright resolve ${key} --adopt <id>, or --retry.`,
      )
    if (remote === undefined)
      return refused(`${key} has no pipe that could be gone: the ledger knows of none.`)
    const why = await whyNotGone(context, recorded, remote, { priority: 0, signal })
    if (why !== undefined) return refused(why)
    const said = { ...remote, saidGoneAt: context.clock.now() }
    const message = `Pipe ${remote.id} is gone, as a person said.`
    await context.ledger.swap({ ...recorded, remote: said }, [
      historyLine(context, recorded, {
        action: 'report',
        reason: 'RecreateApproved',
        result: 'done',
        message,
      }),
    ])
    return done(
      recorded,
      `${message} It is asked for once more, and a new one is created${await when(context)}.`,
    )
  })
}

/** What is said too early is refused: what can be read is not gone, and what cannot be asked is not known to be. */
async function whyNotGone(
  context: OperatorContext,
  recorded: LedgerRecord,
  { id }: Remote,
  options: ReadOptions,
): Promise<string | undefined> {
  const { store, platform } = context
  const { key } = recorded
  const access = recordedAccess(store, recorded, desiredService(store, store.entry(key)?.manifest))
  if (access === undefined)
    return `${key} is pipe ${id}, and its service has no manifest to look for it with.`
  try {
    await platform.read({ kind: createOnceKindOf(key), service: access, id }, options)
    await takeBack(context, recorded)
    return `Pipe ${id} is there: nothing has to be created. If it is to be replaced, remove it in the console first.`
  } catch (error) {
    if (error instanceof RemoteError && error.facts.class === 'Missing') return undefined
    if (!(error instanceof RemoteError) && !(error instanceof SecretUnavailableError)) throw error
    return `The platform cannot be asked for pipe ${id}, so nothing was changed: ${error.message}`
  }
}

/** A pipe that was found is not gone, whatever a person said of it before. */
export async function takeBack({ ledger }: OperatorContext, recorded: LedgerRecord): Promise<void> {
  const { remote } = recorded
  if (remote?.saidGoneAt === undefined) return
  await ledger.swap({ ...recorded, remote: { ...remote, saidGoneAt: undefined } }, [])
}
