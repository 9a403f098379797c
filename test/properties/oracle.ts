import type { FakeClock } from '../support/fake-clock.ts'
import { kindOf } from '../../src/kinds/key.ts'
import { STATUSES } from '../../src/plan/status.ts'
import { statusOf } from '../../src/plan/conditions.ts'
import type { Intent, LedgerRecord } from '../../src/plan/record.ts'
import type { Ledger } from '../../src/reconcile/ports.ts'
import type { Written } from '../reconcile/model-ledger.ts'
import type { ModelPlatform, Post } from '../reconcile/model-platform.ts'
import type { Sight } from './sight.ts'
import { topicsOf } from './sight.ts'

/** What persons have said so far. */
export interface Words {
  /** Intents that created nothing, as somebody said. */
  readonly retry: Set<string>
  /** Pipes that belong to a key, as somebody said. */
  readonly adopt: Set<string>
  /** Intents that somebody settled by naming a pipe, or by letting the key be forgotten. */
  readonly settled: Set<string>
  /** Keys that somebody let be forgotten. */
  readonly forgot: Set<string>
  /** Intents of which somebody said, with --force, that they created nothing. */
  readonly forced: Set<string>
  /** Topics of pipes of which somebody said something that makes a second one right, true or not. */
  readonly excused: Set<string>
}

/**
 * Watches every write that reaches the ledger and every create that reaches the platform, and knows what may never be.
 * It is told what really happened, and never asks the code under test.
 */
export interface Oracle {
  readonly words: Words
  readonly violations: readonly string[]
  written(written: Written): void
  /** Something that should not be was seen elsewhere. */
  blame(violation: string): void
  /** The wall clock was set to another time. */
  jumped(): void
  /** What must hold between any two steps. */
  check(seen: Seen): Promise<void>
}

/** What is to be seen between two steps. */
export interface Seen {
  readonly ledger: Pick<Ledger, 'list' | 'history'>
  readonly platform: ModelPlatform
  /** How many have acted so far: a second one, which the ledger on a disk refuses, does not see at once what the first one wrote. */
  readonly daemons: 1 | 2
}

/** What the oracle is told of the world. */
interface Told {
  readonly platform: ModelPlatform
  readonly clock: Pick<FakeClock, 'monotonic'>
  readonly sight: Pick<Sight, 'refuses'>
}

export function createOracle(world: Told): Oracle {
  const words: Words = {
    retry: new Set(),
    adopt: new Set(),
    settled: new Set(),
    forgot: new Set(),
    forced: new Set(),
    excused: new Set(),
  }
  let hasJumped = false
  const violations: string[] = []
  return {
    words,
    violations,
    written(written) {
      violations.push(...judge(written, { ...world, words, hasJumped }))
    },
    blame: (violation) => void violations.push(violation),
    jumped() {
      hasJumped = true
    },
    async check({ ledger, platform, daemons }) {
      const records = await ledger.list()
      violations.push(...platform.violations)
      for (const record of records) violations.push(...inconsistencies(record))
      if (daemons === 1) violations.push(...heldTwice(records))
      const lost = platform.posts.filter((post) => !isAccountedFor(post, records, words))
      if (lost.length === 0) return
      const told = (await ledger.history({ key: undefined, limit: 10_000 }))
        .map(({ message }) => message)
        .join('\n')
      for (const { key, pipeId, intentId } of lost) {
        if (pipeId !== undefined && !told.includes(pipeId))
          violations.push(`pipe ${pipeId}, made for ${key} by intent ${intentId}, is lost`)
      }
    },
  }
}

interface Truth extends Told {
  readonly words: Words
  readonly hasJumped: boolean
}

function judge({ before, after, moved }: Written, truth: Truth): readonly string[] {
  if (after === undefined) {
    if (moved !== undefined || before === undefined) return []
    if (truth.words.forgot.has(before.key)) {
      if (before.intent !== undefined) truth.words.settled.add(before.intent.id)
      return []
    }
    const left = before.pipe !== undefined || before.upsert !== undefined || isUndecided(before.intent)
    return left ? [`${before.key} was forgotten, though something is left of it`] : []
  }
  if (moved !== undefined) {
    const found = []
    if (before?.pipe !== undefined || isUndecided(before?.intent))
      found.push(`${after.key} had something of its own when ${moved.key} moved there`)
    if (after.pipe?.id !== moved.pipe?.id || after.intent?.id !== moved.intent?.id)
      found.push(`${moved.key} lost something on its way to ${after.key}`)
    return found
  }
  return [
    ...judgeIntent(before, after, truth),
    ...judgePipe(before, after, truth),
    ...judgeMissing(before, after, truth),
  ]
}

function judgeIntent(before: LedgerRecord | undefined, after: LedgerRecord, truth: Truth): readonly string[] {
  const [was, is] = [before?.intent, after.intent]
  const { words, platform } = truth
  if (is === undefined) return was === undefined ? [] : [`${after.key} lost its intent ${was.id}`]
  if (was?.id !== is.id) return judgeOpening(before, after, is, truth)
  if (was.state === is.state) return []
  const post = platform.posts.find(({ intentId }) => intentId === is.id)
  const said = `${after.key}: intent ${is.id} went from ${was.state} to ${is.state}`
  switch (is.state) {
    case 'open':
      return [said]
    case 'dismissed':
      if (!words.retry.has(is.id) || !isUndecided(was)) return [`${said}, and nobody said so`]
      return isTooEarly(was, post, truth) ? [`${said}, though it was said while it could still arrive`] : []
    case 'failed':
      if (was.state !== 'open') return [said]
      return post === undefined || post.effect === 'none' ? [] : [`${said}, and it may have worked`]
    case 'unknown':
      if (was.state !== 'open') return [said]
      return post?.effect === 'unknown' ? [] : [`${said}, and what became of it is known`]
    case 'succeeded':
      if (after.pipe?.origin === 'adopted') words.settled.add(is.id)
      return after.pipe === undefined ? [`${said} without a pipe`] : []
  }
}

/** An intent is written: nothing before it may have made a pipe, unless a person or the platform said otherwise. */
function judgeOpening(
  before: LedgerRecord | undefined,
  after: LedgerRecord,
  opened: Intent,
  { platform }: Truth,
): readonly string[] {
  // A person forgot the key while its create was under way: what came of it is written all the same.
  if (before === undefined && opened.state === 'succeeded') return []
  const found = []
  const last = before?.intent
  if (opened.state !== 'open') found.push(`${after.key}: intent ${opened.id} appeared as ${opened.state}`)
  if (opened.attempt !== (last?.attempt ?? 0) + 1)
    found.push(`${after.key}: attempt ${opened.attempt} is out of order`)
  if (after.pipe !== undefined) found.push(`${after.key}: an intent was opened beside pipe ${after.pipe.id}`)
  if (last !== undefined && isUndecided(last))
    found.push(`${after.key}: an intent was opened, though intent ${last.id} may have worked`)
  if (after.former?.pipe.id !== before?.pipe?.id)
    found.push(`${after.key}: pipe ${before?.pipe?.id} was forgotten before its successor was known`)
  if (before?.pipe !== undefined && !platform.misses.has(before.pipe.id))
    found.push(`${after.key}: pipe ${before.pipe.id} was to be replaced, though it is found`)
  if (opened.reason === 'RecreateApproved' && !isSaidGone(before))
    found.push(`${after.key}: pipe ${before?.pipe?.id} was to be replaced by words that were refuted`)
  return found
}

/** A reading that finds the pipe ends the words that it is gone, at the shell and in Git. */
function isSaidGone(before: LedgerRecord | undefined): boolean {
  const { pipe } = before ?? {}
  return pipe !== undefined && (pipe.saidGoneAt !== undefined || pipe.refutedAt === undefined)
}

/** So long after a create was sent, nothing of it is on its way any more: ms, a little less than what is waited for. */
const ARRIVED_MS = 115_000

/** Whether a person's word counted too early; wall clocks that were moved in between say nothing. */
function isTooEarly(was: Intent, post: Post | undefined, { words, clock, hasJumped }: Truth): boolean {
  if (words.forced.has(was.id)) return false
  if (was.saidEarlyAt !== undefined) return true
  return post !== undefined && !hasJumped && clock.monotonic() - post.at < ARRIVED_MS
}

const GONE: ReadonlySet<string | undefined> = new Set(['Missing', 'ReplacedRecently'])

/** Nothing is called gone that exists and could be seen, or be created again. */
function judgeMissing(
  before: LedgerRecord | undefined,
  after: LedgerRecord,
  { platform, sight }: Truth,
): readonly string[] {
  const reason = after.conditions?.Synced.reason
  if (!GONE.has(reason) || before?.conditions?.Synced.reason === reason) return []
  const pipe = platform.pipes.get(after.pipe?.id ?? '')
  if (pipe === undefined || sight.refuses(pipe.serviceId, topicsOf(pipe.body))) return []
  return [`${after.key} called pipe ${pipe.id} gone (${reason}), which exists`]
}

function judgePipe(before: LedgerRecord | undefined, after: LedgerRecord, truth: Truth): readonly string[] {
  const [was, is] = [before?.pipe, after.pipe]
  const { words, platform } = truth
  if (was?.id === is?.id) return []
  if (is === undefined) {
    // Whether it may be replaced is asked where the intent is opened.
    return after.former?.pipe.id === was?.id ? [] : [`${after.key} lost pipe ${was?.id}`]
  }
  // What was to be replaced is its pipe again: nothing was created.
  if (was === undefined && before?.former?.pipe.id === is.id && after.intent?.state !== 'succeeded') return []
  const found = []
  if (was !== undefined && platform.pipes.has(was.id) && !words.adopt.has(is.id))
    found.push(`${after.key}: pipe ${was.id} became ${is.id}, though it exists`)
  if (is.origin === 'adopted' && !words.adopt.has(is.id))
    found.push(`${after.key} took over pipe ${is.id}, and nobody said so`)
  if (is.origin === 'created') {
    const post = platform.posts.find(({ intentId }) => intentId === after.intent?.id)
    if (post?.pipeId !== is.id) found.push(`${after.key} holds pipe ${is.id}, which its intent did not make`)
  }
  return found
}

/** One pipe belongs to one key. Whoever takes a pipe over asks the records that they know of. */
function heldTwice(records: readonly LedgerRecord[]): readonly string[] {
  const holders = Map.groupBy(
    records.filter(({ pipe }) => pipe !== undefined),
    ({ pipe }) => pipe?.id,
  )
  return [...holders]
    .filter(([, held]) => held.length > 1)
    .map(([id, held]) => `pipe ${id} is held by ${held.map(({ key }) => key).join(' and ')}`)
}

/** What a record says of itself. */
function inconsistencies(record: LedgerRecord): readonly string[] {
  const { key, conditions, pipe, upsert, intent } = record
  // While a create has no outcome, they are those of the turn before it.
  if (conditions === undefined || intent?.state === 'open') return []
  const found = []
  const { Synced, Ready } = conditions
  const kind = kindOf(key)
  if (!STATUSES.includes(statusOf(conditions))) found.push(`${key} has no status`)
  if (Ready.status === 'True' && kind === 'Pipe' && pipe === undefined)
    found.push(`${key} is Ready (${Ready.reason}) without a pipe`)
  if (Ready.status === 'True' && kind === 'QueryEndpoint' && upsert === undefined)
    found.push(`${key} is Ready (${Ready.reason}) and was never applied`)
  if (Synced.status === 'True' && kind === 'Pipe' && pipe === undefined)
    found.push(`${key} is Synced (${Synced.reason}) without a pipe`)
  if (intent?.state === 'succeeded' && pipe === undefined) found.push(`${key} succeeded without a pipe`)
  if (record.former !== undefined && !isUndecided(intent))
    found.push(`${key} keeps a former pipe for nothing`)
  return found
}

function isAccountedFor(post: Post, records: readonly LedgerRecord[], words: Words): boolean {
  const { intentId, pipeId } = post
  if (pipeId === undefined || words.retry.has(intentId) || words.settled.has(intentId)) return true
  return records.some(
    ({ pipe, former, intent }) =>
      pipe?.id === pipeId || former?.pipe.id === pipeId || (intent?.id === intentId && isUndecided(intent)),
  )
}

function isUndecided(intent: Intent | undefined): boolean {
  return intent?.state === 'open' || intent?.state === 'unknown'
}
