import { nameOf, type Key } from '../kinds/key.ts'
import { nearest } from '../lib/nearest.ts'

/** The hint for a key that is not known: the nearest one, or where all are. */
export function didYouMean(key: string, known: readonly Key[]): string {
  const near = known.find((one) => nameOf(one) === key) ?? nearest(key, known)
  return near === undefined ? '"pipewright status" lists all there are.' : `Did you mean ${near}?`
}
