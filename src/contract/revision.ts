/** Shortens a commit id to 10 digits for display. */
export function shortRevision(revision: string): string {
  return revision.replace(/^([0-9a-f]{10})[0-9a-f]{30,54}(?![0-9a-f])/, '$1')
}
