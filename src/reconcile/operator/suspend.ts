import type { OperatorCommand, OperatorResult } from '../../contract/person-command.ts'
import { isReference } from '../../kinds/lookup.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { isLeftAlone, isSuspendedLonger } from '../state/entry-policy.ts'
import { done, historyLine, type OperatorContext, refused, withRecord } from './operator.ts'

/** Until the next revision: afterwards Git decides again. */
export function suspendKey(
  context: OperatorContext,
  { key, reason, until }: OperatorCommand & { readonly command: 'suspend' },
): Promise<OperatorResult> {
  return withRecord(context, key, async (recorded) => {
    const { store, clock } = context
    const entry = store.entry(key)
    if (entry?.manifest === undefined)
      return refused(`${key} has no valid manifest. Without one, it is left alone.`)
    const { position } = entry
    if (isReference(key)) return refused(`${key} is only read. Suspend the resources that use it.`)
    if (Date.parse(until) <= clock.now()) return refused(`${until} is over. Give a time to come.`)
    const inGit = store.catalog?.entries.get(key)
    if (inGit !== undefined && isSuspendedLonger(inGit, until)) {
      const said = `Suspended ${key} by its manifest, at ${position.file}:${position.line}, which says a later time.`
      await write(context, { ...recorded, suspension: undefined }, said)
      return done(recorded, said)
    }
    const why = context.mask.mask(reason)
    const said = `Suspended ${key} until ${until} or the next revision, whichever comes first.`
    await write(context, { ...recorded, suspension: { ...at(context), reason: why, until } }, said)
    const line = `suspend: { reason: ${JSON.stringify(why)}, until: ${JSON.stringify(until)} }`
    return done(recorded, `${said} To keep it suspended, write under policy: in ${position.file}:\n${line}`)
  })
}

/** Also against the manifest, until the next revision. */
export function resumeKey(
  context: OperatorContext,
  { key }: OperatorCommand & { readonly command: 'resume' },
): Promise<OperatorResult> {
  return withRecord(context, key, async (recorded) => {
    const { store, clock } = context
    if (!isLeftAlone(store.entry(key), clock.now())) return refused(`${key} is not suspended.`)
    const entry = store.catalog?.entries.get(key)
    if (entry === undefined || !isLeftAlone(entry, clock.now())) {
      const said = `Resumed ${key}.`
      await write(context, { ...recorded, suspension: undefined }, said)
      return done(recorded, said)
    }
    const said = `Resumed ${key} until the next revision.`
    await write(context, { ...recorded, suspension: at(context) }, said)
    const { file, line } = entry.position
    return done(
      recorded,
      `${said} To keep it so, remove policy.suspend from its manifest at ${file}:${line}.`,
    )
  })
}

function at({ store, clock }: OperatorContext) {
  return { revision: store.revision, at: clock.now() }
}

async function write(context: OperatorContext, next: LedgerRecord, message: string): Promise<void> {
  const line = { action: 'report', reason: 'Suspended', result: 'done', message } as const
  await context.ledger.swap(next, [historyLine(context, next, line)])
}
