import type { RecordedRequest } from '../../../src/sandbox/stored.ts'
import type { Life } from './delete-daemons.ts'
import type { Allowance, HandEdit } from './delete-person.ts'
import { DELETING_MS, deletionsIn, topicIn, type Deletion, type SeenPipe } from './delete-pipes.ts'
import { topicOf, type Snapshot, type Wish } from './delete-tree.ts'

/* Whether each request was asked for, from what the platform and the person wrote down. It knows nothing of the program's insides. */

export interface Evidence {
  readonly requests: readonly RecordedRequest[]
  readonly pipes: ReadonlyMap<string, SeenPipe>
  readonly history: readonly Snapshot[]
  readonly lives: readonly Pick<Life, 'from' | 'until'>[]
  readonly edits: readonly HandEdit[]
  readonly allowances: readonly Allowance[]
  /** Real ms of ten minutes. */
  readonly graceMs: number
}

export interface Violation {
  readonly law: string
  readonly at: number
  readonly pipe: string
  readonly what: string
}

/** So long after a change of the directory a request may still go by what was there before: ms. */
export const STALE_MS = 1_500
/** A daemon that lived so long while something stood in the directory has read it: ms. */
const READ_MS = 2_500
/** Between the last look at a pipe and the request to delete it: ms. */
const LOOK_MS = 300
/** How much sooner than after ten minutes: ms. */
const TOLERANCE_MS = 60
/** So long a word to delete is good; 15 minutes, and some: ms. */
const ALLOWED_MS = 18_000

/** What the directory said of a pipe for a while. */
interface Stretch {
  readonly from: number
  readonly until: number
  readonly is: 'gone' | 'unreadable' | Wish
}

export function judge(evidence: Evidence): readonly Violation[] {
  const deletions = deletionsIn(evidence.requests)
  return [
    ...deletions.flatMap((deletion) => judgeDeletion(deletion, evidence)),
    ...judgeLimit(deletions, evidence),
    ...judgeCreates(evidence),
  ].toSorted((a, b) => a.at - b.at)
}

function judgeDeletion({ at, seq, id }: Deletion, evidence: Evidence): readonly Violation[] {
  const pipe = evidence.pipes.get(id)
  const name = pipe?.name ?? id
  const violation = (law: string, what: string) => ({
    law,
    at,
    pipe: name,
    what: `request ${seq} deletes ${id}: ${what}`,
  })
  if (pipe === undefined) return [violation('not ours', 'it was never there')]
  const all: Violation[] = []
  const isOurs = evidence.requests.some(
    ({ operation, answer, body, at: when }) =>
      operation === 'createPipe' &&
      answer?.done === true &&
      nameIn(body) === name &&
      when <= pipe.createdAt + 50,
  )
  if (!isOurs) all.push(violation('not ours', 'nobody here created it'))
  const since = askedSince(pipe, at, evidence)
  if (since === undefined)
    all.push(
      violation(
        'not asked',
        `no manifest asked for that for ten minutes: ${sayStretches(stretchesOf(name, evidence), at)}`,
      ),
    )
  for (const edit of evidence.edits) {
    const isOpen = edit.id === id && edit.at < at - LOOK_MS && (edit.undoneAt ?? Infinity) > at
    // What no manifest speaks of is as it was when it was last in sync.
    if (isOpen && (edit.isAskedFor || (since !== undefined && edit.at > since + STALE_MS)))
      all.push(violation('edited', `it was edited by hand ${at - edit.at} ms before`))
  }
  const asked = evidence.requests.find(
    ({ operation, path, answer, seq: other }) =>
      operation === 'deletePipe' && path.endsWith(id) && other < seq && answer?.status === 200,
  )
  const isThere = (pipe.goneAt ?? Infinity) > at
  if (asked !== undefined && isThere && at - asked.at < evidence.graceMs - TOLERANCE_MS)
    all.push(violation('asked again', `request ${asked.seq} was answered ${at - asked.at} ms before`))
  const now = snapshotsOf(evidence, at - STALE_MS, at)
  if (now.every(({ isEmptied }) => isEmptied)) all.push(violation('emptied', 'the directory is empty'))
  const unread = [...(now[0]?.unreadable ?? [])].find((key) =>
    now.every(({ unreadable }) => unreadable.has(key)),
  )
  if (unread !== undefined) all.push(violation('unread', `nobody can read ${unread}, which may ask for it`))
  return all
}

/** Since when it has been asked for without a break; undefined: not for long enough. */
function askedSince(pipe: SeenPipe, at: number, evidence: Evidence): number | undefined {
  const { graceMs, lives } = evidence
  const all = stretchesOf(pipe.name, evidence).filter(({ from }) => from <= at)
  const isRead = (stretch: Stretch) => isReadIn(stretch, lives, at)
  const isReplacing = ({ is }: Stretch) =>
    typeof is === 'object' && is.onImmutable === 'replace' && topicOf(is) !== pipe.topic
  for (const isAsking of [isGone, isReplacing]) {
    const last = all.findLastIndex((stretch) => isAsking(stretch) && stretch.until >= at - STALE_MS)
    if (last === -1) continue
    // What no daemon can have read in between does not count.
    for (let index = last; index >= 0; index -= 1) {
      const stretch = all[index]
      if (stretch === undefined || (!isAsking(stretch) && isRead(stretch))) break
      const isLongEnough = at - stretch.from >= graceMs - TOLERANCE_MS
      if (!isAsking(stretch) || !isLongEnough) continue
      if (isAsking === isReplacing || saidDelete(ofOwner(all.slice(0, index), pipe), isRead))
        return stretch.from
    }
  }
  return undefined
}

/** Whether a daemon has surely read it by then. */
function isReadIn({ from, until }: Stretch, lives: Evidence['lives'], at: number): boolean {
  return lives.some((life) => Math.min(life.until, until, at) - Math.max(life.from, from) >= READ_MS)
}

/** What may be the last that a daemon has read under each name of a pipe whose manifest is gone. */
export function lastRead(
  pipe: string,
  { history, lives }: Pick<Evidence, 'history' | 'lives'>,
): readonly Wish[] {
  const all: Wish[] = []
  const known = new Set<string>()
  for (const stretch of stretchesOf(pipe, { history }).toReversed()) {
    if (typeof stretch.is !== 'object' || known.has(stretch.is.key)) continue
    all.push(stretch.is)
    if (isReadIn(stretch, lives, Date.now())) known.add(stretch.is.key)
  }
  return all
}

function isGone({ is }: Stretch): boolean {
  return is === 'gone'
}

/** What was said under the name that has the pipe: another name that asks for something else is no rename until somebody confirms it. */
function ofOwner(stretches: readonly Stretch[], { topic }: SeenPipe): readonly Stretch[] {
  let owner: string | undefined
  return stretches.filter(({ is }) => {
    if (typeof is !== 'object') return false
    if (owner === undefined || topicOf(is) === topic) owner = is.key
    return is.key === owner
  })
}

/** Whether the last valid manifest said so; one that nobody can have read leaves what was before. */
function saidDelete(before: readonly Stretch[], isRead: (stretch: Stretch) => boolean): boolean {
  for (const stretch of before.toReversed()) {
    if (typeof stretch.is !== 'object') continue
    if (stretch.is.onRemove === 'delete') return true
    if (isRead(stretch)) return false
  }
  return false
}

function stretchesOf(pipe: string, { history }: Pick<Evidence, 'history'>): readonly Stretch[] {
  const all: Stretch[] = []
  for (const [index, snapshot] of history.entries()) {
    const until = history[index + 1]?.at ?? Infinity
    const wish = [...snapshot.wishes.values()].find((one) => one.pipe === pipe)
    const isUnreadable = wish !== undefined && snapshot.unreadable.has(wish.key)
    const last = all.at(-1)
    const said = wish === undefined ? 'gone' : isUnreadable ? 'unreadable' : wish
    // Nobody reads what is written while all files are away.
    const is = snapshot.isEmptied ? (last?.is ?? said) : said
    if (last?.is === is) all[all.length - 1] = { ...last, until }
    else all.push({ from: snapshot.at, until, is })
  }
  return all
}

function snapshotsOf({ history }: Evidence, from: number, until: number): readonly Snapshot[] {
  return history.filter(({ at }, index) => at <= until && (history[index + 1]?.at ?? Infinity) >= from)
}

function judgeLimit(deletions: readonly Deletion[], evidence: Evidence): readonly Violation[] {
  const { pipes, graceMs, allowances } = evidence
  const counted = deletions.filter(({ id, at }) => {
    const name = pipes.get(id)?.name ?? ''
    return !allowances.some((word) => {
      const isInTime = word.at <= at && at <= word.until + ALLOWED_MS
      return isInTime && snapshotsOf(evidence, word.at - STALE_MS, word.until).some(isPending)
    })
    function isPending({ wishes }: Snapshot): boolean {
      const wish = [...wishes.values()].find((one) => one.pipe === name)
      return wish === undefined || topicOf(wish) !== pipes.get(id)?.topic
    }
  })
  const all: Violation[] = []
  for (const { id, at, seq } of counted) {
    const from = at - graceMs + TOLERANCE_MS
    const ids = new Set(
      counted.filter((other) => other.at > from && other.seq <= seq).map((other) => other.id),
    )
    const there = [...pipes.values()].filter(
      ({ createdAt, goneAt }) => createdAt <= at && (goneAt ?? Infinity) >= from,
    )
    const limit = Math.max(1, Math.min(5, Math.floor(there.length / 10)))
    if (ids.size > limit)
      all.push({
        law: 'limit',
        at,
        pipe: pipes.get(id)?.name ?? id,
        what: `request ${seq} is the deletion of the ${ids.size}th pipe within ten minutes, of ${there.length}`,
      })
  }
  return all
}

function judgeCreates(evidence: Evidence): readonly Violation[] {
  const all: Violation[] = []
  for (const { operation, answer, body, at, seq } of evidence.requests) {
    if (operation !== 'createPipe' || answer?.done !== true) continue
    const pipe = nameIn(body)
    const isAsked = snapshotsOf(evidence, at - STALE_MS, at).some(({ wishes }) =>
      [...wishes.values()].some((wish) => wish.pipe === pipe && topicOf(wish) === topicIn(body as object)),
    )
    if (!isAsked)
      all.push({
        law: 'no manifest',
        at,
        pipe,
        what: `request ${seq} creates ${pipe}, which no manifest asks for`,
      })
    const others = [...evidence.pipes.values()].filter(
      ({ name, createdAt, goneAt = Infinity }) =>
        name === pipe && createdAt < at && goneAt - DELETING_MS > at,
    )
    for (const { id } of others)
      all.push({ law: 'twice', at, pipe, what: `request ${seq} creates ${pipe}, and ${id} is there` })
  }
  return all
}

function nameIn(body: unknown): string {
  const { name } = (body ?? {}) as { name?: string } // the platform took it
  return name ?? ''
}

function sayStretches(stretches: readonly Stretch[], at: number): string {
  const said = stretches
    .filter(({ from }) => from <= at)
    .slice(-6)
    .map(({ from, is }) => {
      const what = typeof is === 'string' ? is : `${is.key} ${topicOf(is)} ${is.onRemove} ${is.onImmutable}`
      return `${what} for ${((at - from) / 1_000).toFixed(1)} s`
    })
  return said.join(', ')
}
