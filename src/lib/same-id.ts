/** Whether two texts are the same UUID: people and platforms write them in either case. */
export function sameId(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && a.toLowerCase() === b?.toLowerCase()
}
