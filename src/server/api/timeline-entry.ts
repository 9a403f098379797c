import type { HistoryEntry } from '../../contract/history.ts'
import type { Key } from '../../kinds/key.ts'
import type { SourceEntry } from '../recent-events.ts'

/** What happened alike to several resources, of one commit: one item, where one for each would hide all the rest. */
export interface AlikeEntries {
  readonly type: 'alike'
  /** Of the newest: ms since the epoch. */
  readonly at: number
  readonly revision: string
  /** Of the newest resource: one action, or the conditions that changed in one moment. */
  readonly entries: readonly [HistoryEntry, ...HistoryEntry[]]
  /** Newest first. */
  readonly keys: readonly Key[]
  /** There may be more of them, in history that was not read. */
  readonly more: boolean
}

/** A revision that only the history knows of: an earlier process read it. */
export interface EarlierRevision {
  readonly type: 'revision'
  /** Of the first entry of history that came of it. */
  readonly at: number
  readonly revision: string
  readonly earlier: true
}

/** About one resource, or about the source as a whole. */
export type SingleEntry = HistoryEntry | SourceEntry | EarlierRevision

export type TimelineEntry = SingleEntry | AlikeEntries
