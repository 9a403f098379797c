/** Stands behind the commit when what was read is not what the commit holds. */
const UNCOMMITTED = ' + uncommitted changes'

/** The revision of a checkout whose manifests somebody has changed since. */
export function withUncommitted(commit: string): string {
  return commit + UNCOMMITTED
}

/** Whether no commit holds what such a revision names. */
function isUncommitted(revision: string): boolean {
  return revision.endsWith(UNCOMMITTED)
}

/** The commit that such a revision began from; any other revision as it is. */
export function committed(revision: string): string {
  return isUncommitted(revision) ? revision.slice(0, -UNCOMMITTED.length) : revision
}

/** Since when something is as it is that was so before: what was uncommitted takes the first commit that holds it. */
export function earlierRevision(before: string, now: string): string {
  return isUncommitted(before) && !isUncommitted(now) ? now : before
}

/** Git names commits by 40 digits or more; people read 10. What stands behind a commit, such as " + uncommitted changes", stays. */
export function shortRevision(revision: string): string {
  return revision.replace(/^([0-9a-f]{10})[0-9a-f]{30,54}(?![0-9a-f])/, '$1')
}
