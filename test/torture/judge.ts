import type { LedgerRecord } from '../../src/plan/record.ts'
import type { HistoryEntry } from '../../src/contract/history.ts'
import { isUndecided, judgeSeen, judgeSend } from '../support/oracle.ts'
import type { Post } from './platform.ts'
import type { Parts } from './storm.ts'

/*
 * Who knows the truth on both sides, and says where the laws were broken.
 */

export type Evidence = Pick<
  Parts,
  'platform' | 'ledger' | 'runner' | 'person' | 'vanishings' | 'outages' | 'losses' | 'model' | 'journal'
>

/** A living process has written down what became of a create by so long after its request, on a machine however busy. The limits in it are of 5 s. */
const SETTLED_MS = 30_000

/** Every create must be the first of its pipe, or have a reason. @returns how many made a second pipe */
export function judgePosts(evidence: Evidence): number {
  const { platform, person, vanishings, ledger, losses, journal } = evidence
  const durable = new Set(ledger.history.flatMap((entry) => (isIntent(entry) ? [entry.intentId] : [])))
  let duplicates = 0
  for (const [platformName, posts] of byName(platform.posts)) {
    const gone = vanishings.filter((vanishing) => vanishing.platformName === platformName)
    for (const [index, post] of posts.entries()) {
      const before = posts.slice(0, index)
      const { intentId } = post
      const isRepeated = before.some((other) => other.intentId === intentId)
      for (const what of judgeSend(intentId, { isOpen: durable.has(intentId), isRepeated }))
        journal.violate('unapproved-post', `create ${post.seq}: ${what}`, platformName)
      const at = `create ${post.seq} (intent ${intentId})`
      const living = before.find(
        (other) => other.created && !gone.some(({ at: t }) => t > other.at && t < post.at),
      )
      if (living !== undefined && post.created) {
        duplicates += 1
        const what = `${at} made a second pipe beside that of create ${living.seq}`
        journal.violate('duplicate', what, platformName)
        continue
      }
      const last = before.at(-1)
      if (last === undefined || isRefusal(last) || person.approved(last.intentId, post.at)) continue
      if (last.created && living === undefined) continue
      // Nobody knows of it any more; that there is no such pipe, a list says.
      if (!last.created && losses.some((lostAt) => last.at < lostAt && lostAt < post.at)) continue
      if (isRefusal(post) && isRefusedReplacement(post, evidence)) continue
      const what = `${at} went out, though create ${last.seq} (${outcomeOf(last)}) may have worked and nobody said otherwise`
      journal.violate('unapproved-post', what, platformName)
    }
  }
  return duplicates
}

/** The pipe, and the right to create it, were lost for longer than it takes to believe that it is gone. */
function isRefusedReplacement({ platformName, at }: Post, { outages, model }: Evidence): boolean {
  const lineage = model.lineages.find((candidate) => candidate.platformName === platformName)
  return lineage !== undefined && outages.hid(lineage, at - CONFIRMED_MS, at)
}

/** A 404 is not believed before. */
const CONFIRMED_MS = 60_000

/** Every pipe must be the only one of its name, and in the ledger, or its key must say that it does not know. */
export function judgeKept(
  records: readonly LedgerRecord[],
  { platform, ledger: { history }, journal }: Evidence,
): void {
  const ids = new Set(records.flatMap(({ remote: pipe, former }) => [pipe?.id, former?.remote.id]))
  for (const [name, there] of platform.alive()) {
    const pipes = there.map(({ id }) => id)
    const known = pipes.filter((id) => ids.has(id) || history.some(({ message }) => message.includes(id)))
    const isUnknown = records.some((record) => record.platformName === name && isUndecided(record.intent))
    // Pipes that vanish are still recorded for a while.
    for (const { law, what } of judgeSeen({ name, pipes, known, recorded: undefined, isUnknown }))
      journal.violate(law, what, name)
  }
}

/** A look that is this old may still be what is said of a pipe, ms: the look before, and a restart in between. */
const OLD_LOOK_MS = 120_000

/** Nothing is called gone that exists and could be seen. @returns how often something was */
export function judgeMissing({
  platform,
  ledger: { history },
  vanishings,
  outages,
  model: { lineages },
  journal,
}: Evidence): number {
  const there = new Map([...platform.alive()].flatMap(([name, pipes]) => pipes.map(({ id }) => [id, name])))
  for (const { id, platformName } of vanishings) there.set(id, platformName)
  let wrongly = 0
  for (const { key, at, message, reason } of history) {
    if (!MISSED.has(reason)) continue
    const [, id = ''] = /\bPipe ([0-9a-f-]{36}) is gone\b/.exec(message) ?? []
    const lineage = lineages.find(({ platformName }) => platformName === there.get(id))
    const goneAt = vanishings.find((vanishing) => vanishing.id === id)?.at ?? Infinity
    if (lineage === undefined || goneAt <= at || outages.hid(lineage, at - OLD_LOOK_MS, at)) continue
    wrongly += 1
    const what = `${key} called pipe ${id} gone at ${new Date(at).toISOString()}, which was there and shown: ${message}`
    journal.violate('wrongly-missing', what, lineage.platformName)
  }
  return wrongly
}

const MISSED: ReadonlySet<string> = new Set(['Missing'])

export interface UnknownVerdict {
  /** How many outcomes were unknown, by what the platform had seen. */
  readonly causes: ReadonlyMap<string, number>
  /** How many of them cannot have worked, or were answered well. */
  readonly wrongly: number
}

/** Only what may have worked, and was not answered, may be unknown. */
export function judgeUnknown({
  platform,
  ledger: { history },
  runner: { runs },
  person,
  journal,
}: Evidence): UnknownVerdict {
  const posts = new Map(platform.posts.map((post) => [post.intentId, post]))
  const causes = new Map<string, number>()
  let wrongly = 0
  const told = new Set<string>()
  const count = (cause: string) => causes.set(cause, (causes.get(cause) ?? 0) + 1)
  const wrong = (subject: string | undefined, what: string) => {
    wrongly += 1
    journal.violate('wrongly-unknown', what, subject)
  }

  for (const entry of history) {
    if (entry.type !== 'action' || entry.action !== 'create' || entry.result !== 'unknown') continue
    const { intentId = '', at, message } = entry
    told.add(intentId)
    const post = posts.get(intentId)
    const run = runs.find((candidate) => candidate.startedAt <= at && at <= (candidate.endedAt ?? Infinity))
    count(`told by a living process: ${post === undefined ? 'the request never arrived' : outcomeOf(post)}`)
    if (post === undefined) {
      if (run?.offline === true)
        wrong(undefined, `intent ${intentId} of ${entry.key} is unknown, though nobody listened: ${message}`)
      continue
    }
    const late = /within|in time/.test(message)
    if (!late && (isRefusal(post) || isPlainSuccess(post))) {
      wrong(
        post.platformName,
        `intent ${intentId} is unknown, though the platform answered ${outcomeOf(post)}: ${message}`,
      )
    }
  }
  const openedAt = new Map(
    history.flatMap((entry) => (isIntent(entry) ? [[entry.intentId, entry.at] as const] : [])),
  )
  for (const [intentId, platformName] of person.unknown) {
    if (told.has(intentId)) continue
    const post = posts.get(intentId)
    count(`after a kill: ${post === undefined ? 'the request never arrived' : outcomeOf(post)}`)
    const at = openedAt.get(intentId)
    const run =
      at === undefined
        ? undefined
        : runs.find((candidate) => candidate.startedAt <= at && at <= (candidate.endedAt ?? Infinity))
    if (run === undefined || at === undefined) continue
    const lived = (run.endedAt ?? Date.now()) - (post?.at ?? at)
    if (lived > SETTLED_MS) {
      const what = `intent ${intentId} was left open by run ${run.number}, which lived on for ${lived} ms after its request`
      wrong(platformName, what)
    }
  }
  return { causes, wrongly }
}

function isIntent(
  entry: HistoryEntry,
): entry is HistoryEntry & { readonly type: 'action'; readonly intentId: string } {
  if (entry.type !== 'action' || entry.action !== 'intent' || entry.intentId === undefined) return false
  // What a person says of it later is another line.
  return entry.result === 'started'
}

/** A 4xx of the platform's own, or 429: nothing was done, in clear words. The page of a proxy says nothing of the platform. */
function isRefusal({ created, status, fault }: Post): boolean {
  const isOwn = fault !== 'html' && status !== 408
  return !created && isOwn && status !== undefined && status >= 400 && status < 500
}

function isPlainSuccess({ created, status, fault }: Post): boolean {
  return created && status === 200 && (fault === undefined || fault === 'latency')
}

function outcomeOf({ created, status, fault }: Post): string {
  const answer = status === undefined ? 'no status' : `HTTP ${status}`
  return `${created ? 'created' : 'nothing created'}, ${answer}${fault === undefined ? '' : `, ${fault}`}`
}

export function byName(posts: readonly Post[]): ReadonlyMap<string, readonly Post[]> {
  return Map.groupBy(posts, ({ platformName }) => platformName)
}
