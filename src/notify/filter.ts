import type { Severity } from '../plan/severity.ts'
import type { ResourceStatus } from '../contract/status.ts'

/** About which resources a target is notified; what is not named lets everything pass. */
export interface Filter {
  /** Any of them; empty: every kind. */
  readonly kinds: readonly string[]
  /** Any of these globs; empty: every name. */
  readonly names: readonly string[]
  /** All of them: a label and a glob for its value. */
  readonly labels: Readonly<Record<string, string>>
  /** The least that is sent. */
  readonly severity: Severity
}

/** Whether a resource is one of those that a target is notified about, whatever its state. */
export function isAbout(filter: Filter, resource: Pick<ResourceStatus, 'kind' | 'name' | 'labels'>): boolean {
  const { kinds, names, labels } = filter
  return (
    (kinds.length === 0 || kinds.includes(resource.kind)) &&
    (names.length === 0 || names.some((glob) => fits(glob, resource.name))) &&
    Object.entries(labels).every(([label, glob]) => {
      const value = Object.hasOwn(resource.labels, label) ? resource.labels[label] : undefined
      return value !== undefined && fits(glob, value)
    })
  )
}

/** Whether a text fits a glob: `*` is any text, also none; `?` is one character. In time of their product, whatever they hold. */
export function fits(glob: string, text: string): boolean {
  let [at, inGlob] = [0, 0]
  let star = -1
  let resumeAt = 0
  while (at < text.length) {
    if (glob[inGlob] === '*') {
      star = inGlob
      resumeAt = at
      inGlob += 1
    } else if (glob[inGlob] === '?' || glob[inGlob] === text[at]) {
      inGlob += 1
      at += 1
    } else if (star >= 0) {
      // the last star takes one character more
      resumeAt += 1
      at = resumeAt
      inGlob = star + 1
    } else return false
  }
  return /^\**$/.test(glob.slice(inGlob))
}
