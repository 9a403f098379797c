import type { ReconcileContext } from '../context.ts'
import { type Because, causeOf } from '../../plan/reason.ts'
import type { OperatorCommand, OperatorResult } from '../../contract/person-command.ts'
import { anyOf, nounOf, isReference } from '../../kinds/lookup.ts'
import { createOnceKindOf, isCreatable, type Profile } from '../../kinds/profile.ts'
import { adoptAs } from './adopt.ts'
import { refused, done, withRecord, stillOnItsWay, historyLine, noManifestWords } from './operator.ts'
import { stillSending } from '../apply/adopt-existing.ts'
import { approveRecreate, retryCreate } from './resolve.ts'
import type { Key } from '../../kinds/key.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import { isKnownGone, orphanFacts } from '../../plan/gates.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { isStoppedByUs } from '../../plan/run-state.ts'
import { desiredService, recordedAccess } from '../gather/service-access.ts'
import { isLeftAlone, isSuspendedLonger } from '../state/entry-policy.ts'

/** Call it only in the leader, while the key is not reconciled. */
export async function operate(
  context: ReconcileContext,
  asked: OperatorCommand,
  signal: AbortSignal,
): Promise<OperatorResult> {
  const { command, key } = asked
  const mistake = mistakeIn(context.profile, asked)
  if (mistake !== undefined) return refused(mistake)
  switch (command) {
    case 'adopt':
    case 'resolve':
      return adoptAs(context, { ...asked, pipeId: asked.pipeId.toLowerCase() }, signal)
    case 'retry':
      return retryCreate(context, key, asked)
    case 'recreate':
      return approveRecreate(context, key, signal)
    case 'forget':
      return forgetKey(context, key)
    case 'suspend':
      return suspendKey(context, asked)
    case 'resume':
      return resumeKey(context, key)
  }
}

export function mistakeIn(profile: Profile, asked: OperatorCommand): string | undefined {
  const { command, key } = asked
  if (command === 'forget' || command === 'suspend' || command === 'resume') return undefined
  if (!isCreatable(profile, key))
    return `${key} cannot be adopted or resolved. Only pipes can, and with --profile clickhouse-cloud also alerts.`
  if (!('pipeId' in asked)) return undefined
  const form = createOnceKindOf(profile, key).idForm
  return form.matches(asked.pipeId)
    ? undefined
    : `"${asked.pipeId}" is not the id of ${anyOf(nounOf(key))}: give ${form.words}.`
}

export function forgetKey(context: ReconcileContext, key: Key): Promise<OperatorResult> {
  return withRecord(context, key, async (recorded) => {
    if (recorded.version === 0) return refused(`No change was made: the ledger has no record of ${key}.`)
    const wanted = stillWanted(context, recorded)
    if (wanted !== undefined) return refused(wanted)
    const stopped = stoppedWords(recorded)
    if (stopped !== undefined && isToBeStarted(context, recorded))
      return refused(
        `${stopped} Pipewright starts it soon. Then run this command again. If it stays stopped, restore its manifest, or start it in the console.`,
      )
    const intent = undecidedIntent(recorded)
    // If the create still arrives after `forget`, a manifest that returns would make a second pipe.
    const wait = intent && (stillSending(context, key, intent) ?? stillOnItsWay(context, key, intent))
    if (wait !== undefined) return refused(wait)
    const orphan = { reason: 'Orphaned', facts: orphanFacts(recorded) } as const
    const locked = context.store.lockedId(key)
    const then =
      locked === undefined
        ? 'If a manifest of this name returns, Pipewright treats it as a new resource.'
        : `A Lock assigns ${nounOf(key)} ${locked} to it. Remove that line, or a manifest of this name adopts it.`
    await context.ledger.remove(recorded, [
      historyLine(context, recorded, { action: 'forget', because: orphan, result: 'done' }),
    ])
    return done(
      recorded,
      `Forgot ${key}. ${causeOf(orphan, key)} ${then}` +
        (stopped === undefined ? '' : ` ${stopped} If it exists, start it in the console.`),
    )
  })
}

function stoppedWords(recorded: LedgerRecord): string | undefined {
  const { key, remote } = recorded
  if (remote === undefined || !isStoppedByUs(recorded)) return undefined
  return `Pipewright stopped ${nounOf(key)} ${remote.id} for a change, and has not seen it running since.`
}

function isToBeStarted({ store }: ReconcileContext, recorded: LedgerRecord): boolean {
  const access = recordedAccess(store, recorded, desiredService(store, undefined))
  return access !== undefined && store.observation(recorded.key)?.found === true
}

function stillWanted({ store }: ReconcileContext, recorded: LedgerRecord): string | undefined {
  const { key } = recorded
  const entry = store.entry(key)
  const { catalog, olderThan } = store
  if (entry !== undefined && entry.state !== 'missing') {
    const { file, line } = entry.position
    const canSuspend = entry.manifest !== undefined && !isReference(key)
    const orSuspend = canSuspend ? ` Or, to keep it, run "pipewright suspend ${key}".` : ''
    return `${key} has a manifest at ${file}:${line}. Remove the manifest first.${orSuspend}`
  }
  if (catalog?.problem !== undefined) {
    return `No change was made: it is unknown whether ${key} has a manifest. ${catalog.problem.message}`
  }
  if (olderThan !== undefined)
    return `No change was made: this checkout might be stale, because another process acted on revision ${olderThan}. To accept these manifests, run "pipewright reconcile --accept".`
  if (store.desiredState(key) !== 'absent') {
    return `Unreadable files might have a manifest of ${key}. Run "pipewright validate".`
  }
  if (isKnownGone(recorded)) return undefined
  const place = recorded.file === undefined ? '' : ` at ${recorded.file}:${recorded.line ?? 1}`
  return (
    `${key} is not Orphaned yet: the last reconcile still found its manifest${place}. Check that --manifests names ` +
    'the daemon\'s directory. If it does, wait until "pipewright status" shows it as Orphaned, or run ' +
    '"pipewright apply". Then repeat this command.'
  )
}

function suspendKey(
  context: ReconcileContext,
  { key, reason, until }: OperatorCommand & { readonly command: 'suspend' },
): Promise<OperatorResult> {
  return withRecord(context, key, async (recorded) => {
    const { store, clock } = context
    const entry = store.entry(key)
    if (entry === undefined) return refused(noManifestWords(store, key))
    if (entry.manifest === undefined)
      return refused(`${key} was not suspended: it has no valid manifest, so Pipewright does not change it.`)
    const { position } = entry
    if (isReference(key))
      return refused(
        `Pipewright only reads ${key}, so it cannot be suspended. Suspend the resources that use it.`,
      )
    if (Date.parse(until) <= clock.now()) return refused(`${until} is in the past. Give a later time.`)
    const why = context.mask.mask(reason)
    const suspended = { reason: 'Suspended', facts: { until, why } } as const
    const inGit = store.catalog?.entries.get(key)
    if (inGit !== undefined && isSuspendedLonger(inGit, until)) {
      const said = `${key} stays suspended until the later time in its manifest: ${position.file}:${position.line}.`
      await write(context, { ...recorded, suspension: undefined }, suspended)
      return done(recorded, said)
    }
    const said = `Suspended ${key} until ${until} or the next revision, whichever comes first.`
    await write(context, { ...recorded, suspension: { ...at(context), reason: why, until } }, suspended)
    const line = `suspend: { reason: ${JSON.stringify(why)}, until: ${JSON.stringify(until)} }`
    return done(recorded, `${said} To keep it suspended, write under policy: in ${position.file}:\n${line}`)
  })
}

const RESUMED = { reason: 'Unobserved', facts: { why: 'resumed' } } as const

function resumeKey(context: ReconcileContext, key: Key): Promise<OperatorResult> {
  return withRecord(context, key, async (recorded) => {
    const { store, clock } = context
    const entry = store.catalog?.entries.get(key)
    if (entry === undefined) return refused(noManifestWords(store, key))
    if (!isLeftAlone(store.entry(key), clock.now())) return refused(`${key} is not suspended.`)
    if (!isLeftAlone(entry, clock.now())) {
      await write(context, { ...recorded, suspension: undefined }, RESUMED)
      return done(recorded, `Resumed ${key}.`)
    }
    const said = `Resumed ${key} until the next revision.`
    await write(context, { ...recorded, suspension: at(context) }, RESUMED)
    const { file, line } = entry.position
    return done(recorded, `${said} To keep it resumed, remove policy.suspend at ${file}:${line}.`)
  })
}

function at({ store, clock }: ReconcileContext) {
  return { revision: store.revision, at: clock.now() }
}

async function write(context: ReconcileContext, next: LedgerRecord, because: Because): Promise<void> {
  const line = { action: 'report', because, result: 'done' } as const
  await context.ledger.swap(next, [historyLine(context, next, line)])
}
