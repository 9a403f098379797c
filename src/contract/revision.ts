/** Git names commits by 40 digits or more; people read 10. */
export function shortRevision(revision: string): string {
  return revision.replace(/^([0-9a-f]{10})[0-9a-f]{30,54}(?![0-9a-f])/, '$1')
}
