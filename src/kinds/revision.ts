/** Which state of the directory a reading saw. */
export interface Revision {
  /** A commit (from git-sync's root name or `.git`), or `content-<12 hex digits>` when neither is there. */
  readonly id: string
  readonly from: 'git-sync' | 'git' | 'content'
}
