import { kindOf, type Key } from '../../src/kinds/key.ts'
import { STATUSES } from '../../src/plan/severity.ts'
import { statusOf } from '../../src/plan/conditions.ts'
import type { Intent, LedgerRecord } from '../../src/plan/record.ts'

/* The laws of a ledger. The oracle hears what really happened, and never asks the code under test. */

/** A record before and after a write that reached the ledger; `undefined`: there is none. */
export interface Written {
  readonly before: LedgerRecord | undefined
  readonly after: LedgerRecord | undefined
  /** The record that moved here, or away from here. */
  readonly moved: LedgerRecord | undefined
}

/** What really became of a create that was sent. */
export interface Sent {
  /** As far as its sender can know. */
  readonly effect: 'none' | 'unknown' | 'done'
  /** The pipe that it made. */
  readonly pipeId: string | undefined
}

/** What really happened. */
export interface Truth {
  /** `undefined`: it was not sent. */
  sent(intentId: string): Sent | undefined
  /** Whether a person said that this intent created nothing. */
  isRetrySaid(intentId: string): boolean
  /** Whether a person, or a Lock, gave this pipe to a key. */
  isPipeSaid(pipeId: string): boolean
  /** Whether a person lets this key be forgotten. */
  isForgetSaid(key: Key): boolean
  /** Whether this pipe is gone, and its manifest asked for its deletion. */
  isRemoved(pipeId: string): boolean
}

/** What no write may do. @returns what is broken, in words */
export function judgeWrite({ before, after, moved }: Written, truth: Truth): readonly string[] {
  if (after === undefined) return moved === undefined ? judgeForgetting(before, truth) : []
  if (moved !== undefined) return judgeMove(before, after, moved)
  return [
    ...judgeIntent(before, after, truth),
    ...judgePipe(before, after, truth),
    ...judgeReady(before, after),
  ]
}

/** Also while a create is under way. */
function judgeReady(
  before: LedgerRecord | undefined,
  { key, conditions, remote }: LedgerRecord,
): readonly string[] {
  const isNews = conditions?.Ready.status === 'True' && before?.conditions?.Ready.status !== 'True'
  return isNews && kindOf(key) === 'Pipe' && remote === undefined
    ? [`${key} is called Ready without a pipe`]
    : []
}

function judgeForgetting(before: LedgerRecord | undefined, truth: Truth): readonly string[] {
  if (before === undefined || truth.isForgetSaid(before.key)) return []
  const { key, remote: pipe, upsert, intent } = before
  const isLeft =
    (pipe !== undefined && !truth.isRemoved(pipe.id)) || upsert !== undefined || isUndecided(intent)
  return isLeft ? [`${key} was forgotten, though something is left of it`] : []
}

function judgeMove(
  before: LedgerRecord | undefined,
  after: LedgerRecord,
  moved: LedgerRecord,
): readonly string[] {
  const found = []
  if (before?.remote !== undefined || isUndecided(before?.intent))
    found.push(`${after.key} had something of its own when ${moved.key} moved there`)
  if (after.remote?.id !== moved.remote?.id || after.intent?.id !== moved.intent?.id)
    found.push(`${moved.key} lost something on its way to ${after.key}`)
  return found
}

function judgeIntent(before: LedgerRecord | undefined, after: LedgerRecord, truth: Truth): readonly string[] {
  const [was, is] = [before?.intent, after.intent]
  if (is === undefined) {
    const isOver = before?.remote !== undefined && truth.isRemoved(before.remote.id)
    return was === undefined || isOver ? [] : [`${after.key} lost its intent ${was.id}`]
  }
  if (was?.id !== is.id) return judgeOpening(before, after, is)
  if (was.state === is.state) return []
  const sent = truth.sent(is.id)
  const said = `${after.key}: intent ${is.id} went from ${was.state} to ${is.state}`
  switch (is.state) {
    case 'open':
      return [said]
    case 'dismissed':
      return truth.isRetrySaid(is.id) && isUndecided(was) ? [] : [`${said}, and nobody said so`]
    case 'failed':
      if (was.state !== 'open') return [said]
      return sent === undefined || sent.effect === 'none' ? [] : [`${said}, and it may have worked`]
    case 'unknown':
      if (was.state !== 'open') return [said]
      return sent?.effect === 'unknown' ? [] : [`${said}, and what became of it is known`]
    case 'succeeded':
      return after.remote === undefined ? [`${said} without a pipe`] : []
  }
}

/** An intent is written: nothing before it may have made a pipe, unless a person or the platform said otherwise. */
function judgeOpening(
  before: LedgerRecord | undefined,
  after: LedgerRecord,
  opened: Intent,
): readonly string[] {
  // A person forgot the key while its create was under way: what came of it is written all the same.
  if (before === undefined && opened.state === 'succeeded') return []
  const { key } = after
  const last = before?.intent
  const found = []
  if (opened.state !== 'open') found.push(`${key}: intent ${opened.id} appeared as ${opened.state}`)
  if (opened.attempt !== (last?.attempt ?? 0) + 1)
    found.push(`${key}: attempt ${opened.attempt} is out of order`)
  if (after.remote !== undefined) found.push(`${key}: an intent was opened beside pipe ${after.remote.id}`)
  if (last !== undefined && isUndecided(last))
    found.push(`${key}: an intent was opened, though intent ${last.id} may have worked`)
  if (after.former?.remote.id !== before?.remote?.id)
    found.push(`${key}: pipe ${before?.remote?.id} was forgotten before its successor was known`)
  // Only a person's word replaces a recorded pipe as a new one.
  if (opened.reason === 'New' && before?.remote !== undefined && !isSaidGone(before))
    found.push(`${key}: pipe ${before?.remote?.id} was to be replaced by words that were refuted`)
  return found
}

/** A reading that finds the pipe ends the words that it is gone, at the shell and in Git. */
function isSaidGone(before: LedgerRecord | undefined): boolean {
  const { remote: pipe } = before ?? {}
  return pipe !== undefined && (pipe.saidGoneAt !== undefined || pipe.refutedAt === undefined)
}

function judgePipe(before: LedgerRecord | undefined, after: LedgerRecord, truth: Truth): readonly string[] {
  const [was, is] = [before?.remote, after.remote]
  const { key } = after
  if (was?.id === is?.id) return []
  // Whether it may be replaced is asked where the intent is opened.
  if (was !== undefined && is === undefined)
    return after.former?.remote.id === was.id || truth.isRemoved(was.id) ? [] : [`${key} lost pipe ${was.id}`]
  if (is === undefined) return []
  // What was to be replaced is its pipe again: nothing was created.
  if (was === undefined && before?.former?.remote.id === is.id && after.intent?.state !== 'succeeded')
    return []
  const { intent } = after
  // A person said too early that nothing was created in its place; the process that sent the request holds the id that proves otherwise.
  const isProved =
    intent?.state === 'succeeded' &&
    before?.intent?.id === intent.id &&
    truth.sent(intent.id)?.pipeId === is.id
  const found = []
  if (was !== undefined && !isProved && !truth.isPipeSaid(is.id))
    found.push(`${key}: pipe ${was.id} became ${is.id}, and nobody said so`)
  if (is.origin === 'adopted' && !truth.isPipeSaid(is.id))
    found.push(`${key} took over pipe ${is.id}, and nobody said so`)
  if (is.origin === 'created' && truth.sent(after.intent?.id ?? '')?.pipeId !== is.id)
    found.push(`${key} holds pipe ${is.id}, which its intent did not make`)
  return found
}

/** What a record says of itself, when nothing is under way. */
export function judgeRecord({
  key,
  conditions,
  remote: pipe,
  upsert,
  intent,
  former,
}: LedgerRecord): readonly string[] {
  // While a create has no outcome, they are those of before.
  if (conditions === undefined || intent?.state === 'open') return []
  const { Synced, Ready } = conditions
  const kind = kindOf(key)
  const found = []
  if (!STATUSES.includes(statusOf(conditions))) found.push(`${key} has no status`)
  if (Ready.status === 'True' && kind === 'Pipe' && pipe === undefined)
    found.push(`${key} is Ready (${Ready.reason}) without a pipe`)
  if (Ready.status === 'True' && kind === 'QueryEndpoint' && upsert === undefined)
    found.push(`${key} is Ready (${Ready.reason}) and was never applied`)
  if (Synced.status === 'True' && kind === 'Pipe' && pipe === undefined)
    found.push(`${key} is Synced (${Synced.reason}) without a pipe`)
  if (intent?.state === 'succeeded' && pipe === undefined) found.push(`${key} succeeded without a pipe`)
  if (former !== undefined && !isUndecided(intent)) found.push(`${key} keeps a former pipe for nothing`)
  return found
}

/** A create is sent. @param isOpen whether the ledger holds its intent open. @returns what is broken */
export function judgeSend(
  intentId: string,
  { isOpen, isRepeated }: Readonly<Record<'isOpen' | 'isRepeated', boolean>>,
): readonly string[] {
  const what = `a create is sent with intent ${intentId}`
  if (!isOpen) return [`${what}, which the ledger does not hold open`]
  return isRepeated ? [`${what} for the second time`] : []
}

/** What there is of one pipe that is asked for, seen from outside while no create is under way. */
interface Seen {
  readonly name: string
  /** Ids on the platform. */
  readonly pipes: readonly string[]
  /** Ids that the ledger, or what people are told, names for it. */
  readonly known: readonly (string | undefined)[]
  /** The id in its record, if that has to be on the platform. */
  readonly recorded: string | undefined
  /** Whether people are told that it is unknown what a create came to. */
  readonly isUnknown: boolean
}

/** The first two promises. @returns what is broken */
export function judgeSeen({ name, pipes, known, recorded, isUnknown }: Seen) {
  const broken: { readonly law: 'duplicate' | 'lost' | 'ghost'; readonly what: string }[] = []
  if (pipes.length > 1)
    broken.push({ law: 'duplicate', what: `"${name}" has ${pipes.length} pipes: ${pipes.join(', ')}` })
  for (const id of isUnknown ? [] : pipes.filter((there) => !known.includes(there)))
    broken.push({ law: 'lost', what: `pipe ${id} of "${name}" is in no record, and nothing says unknown` })
  if (recorded !== undefined && !pipes.includes(recorded))
    broken.push({ law: 'ghost', what: `the ledger has pipe ${recorded} of "${name}", which does not exist` })
  return broken
}

/** One pipe belongs to one key. */
export function heldTwice(records: Iterable<LedgerRecord>): readonly string[] {
  const holders = Map.groupBy(records, ({ remote: pipe }) => pipe?.id)
  return [...holders]
    .filter(([id, held]) => id !== undefined && held.length > 1)
    .map(([id, held]) => `pipe ${id} is held by ${held.map(({ key }) => key).join(' and ')}`)
}

/** The last attempt of a key may have created something, and nobody knows. */
export function isUndecided(intent: Intent | undefined): boolean {
  return intent?.state === 'open' || intent?.state === 'unknown'
}
