import type { Clock } from '../../lib/clock.ts'

/** What comes within this time after a line is said in one line at the end of it: ms. */
const FIRST_MS = 10_000

/** Each next time is twice as long, up to this. */
const LONGEST_MS = 160_000

/** After so long without any change, all begins anew: ms. */
const QUIET_MS = 600_000

/** So many beginnings, and so many ends, have a line of their own before they are gathered. */
const ALONE = 3

/**
 * Lines about the beginning and the end of one thing, for many or for one to whom it happens again and again: the first have a line
 * each, at once; then there are ever fewer. In the end what was said is so.
 */
export interface GatheredLines<M> {
  /** It begins for this one. @param since ms since the epoch */
  begin(member: M, since: number): void
  /** It began, and that was said already. */
  known(member: M, since: number): void
  /** It goes on, and there is something else to say of it. */
  renew(member: M): void
  end(member: M): void
  /** Whether a while has passed since the first line. */
  readonly isSettled: boolean
  /** Says what is held back. */
  flush(): void
}

export interface GatheredLinesOptions<M> {
  readonly clock: Clock
  readonly begins: (members: readonly M[]) => void
  /** @param durationMs of several, the longest */
  readonly ends: (members: readonly M[], durationMs: number) => void
  /** A while has passed since the first line. */
  readonly settled: () => void
  /** It is over for all, and has been for long. */
  readonly done: () => void
}

interface Member {
  /** ms since the epoch */
  readonly since: number
  /** ms since the epoch: it is over, and that is still to be said. */
  endedAt: number | undefined
  /** Whether its beginning was said, and whether that is all there is to say now. */
  wasSaid: boolean
  isSaid: boolean
}

export function createGatheredLines<M>(options: GatheredLinesOptions<M>): GatheredLines<M> {
  const { clock } = options
  const members = new Map<M, Member>()
  let linesLeft = { begins: ALONE, ends: ALONE }
  let windowMs = FIRST_MS
  let isGathering = false
  let isSettled = true
  let cancel: (() => void) | undefined

  function gather(): void {
    if (isGathering) return
    cancel?.()
    isGathering = true
    cancel = clock.after(windowMs, close)
  }

  function close(): void {
    cancel?.()
    sayHeld()
    isGathering = false
    windowMs = Math.min(windowMs * 2, LONGEST_MS)
    cancel = clock.after(QUIET_MS, quiet)
    if (isSettled) return
    isSettled = true
    options.settled()
  }

  function quiet(): void {
    linesLeft = { begins: ALONE, ends: ALONE }
    windowMs = FIRST_MS
    if (members.size === 0) options.done()
  }

  function sayHeld(): void {
    const all = [...members]
    sayEnds(all.flatMap(([member, { endedAt }]) => (endedAt === undefined ? [] : [member])))
    sayBegins(
      all.flatMap(([member, { endedAt, isSaid }]) => (endedAt === undefined && !isSaid ? [member] : [])),
    )
  }

  function sayBegins(begun: readonly M[]): void {
    if (begun.length === 0) return
    if (members.values().every(({ wasSaid }) => !wasSaid)) isSettled = false
    for (const member of begun) {
      const known = members.get(member)
      if (known !== undefined) known.wasSaid = known.isSaid = true
    }
    options.begins(begun)
  }

  function sayEnds(over: readonly M[]): void {
    if (over.length === 0) return
    let durationMs = 0
    for (const member of over) {
      const { since = 0, endedAt = 0 } = members.get(member) ?? {}
      durationMs = Math.max(durationMs, endedAt - since)
      members.delete(member)
    }
    options.ends(over, durationMs)
  }

  function sayOrHold(what: 'begins' | 'ends', member: M): void {
    gather()
    if (linesLeft[what] === 0) return
    linesLeft[what] -= 1
    if (what === 'begins') sayBegins([member])
    else sayEnds([member])
  }

  return {
    begin(member, since) {
      const before = members.get(member)
      if (before === undefined)
        members.set(member, { since, endedAt: undefined, wasSaid: false, isSaid: false })
      else before.endedAt = undefined // it came back before its end was said
      if (before?.isSaid !== true) sayOrHold('begins', member)
    },
    known(member, since) {
      const before = members.get(member)
      members.set(member, {
        since: Math.min(since, before?.since ?? since),
        endedAt: undefined,
        wasSaid: true,
        isSaid: true,
      })
    },
    renew(member) {
      const known = members.get(member)
      if (known === undefined) return
      known.isSaid = false
      sayOrHold('begins', member)
    },
    end(member) {
      const known = members.get(member)
      if (known === undefined || known.endedAt !== undefined) return
      // What was not said yet is not said to be over.
      if (!known.wasSaid) {
        members.delete(member)
        gather()
        return
      }
      known.endedAt = clock.now()
      sayOrHold('ends', member)
    },
    get isSettled() {
      return isSettled
    },
    flush() {
      if (isGathering) close()
    },
  }
}
