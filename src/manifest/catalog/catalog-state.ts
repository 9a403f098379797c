import type { Catalog } from '../../contract/catalog.ts'
import type { Key } from '../../kinds/key.ts'

/** A catalog, and what has to be remembered until the next reading. */
export interface CatalogState {
  readonly catalog: Catalog
  /** Keys that are missing, and for how many readings in a row; from three on they are gone. */
  readonly absences: ReadonlyMap<Key, number>
  /** Missing keys whose absence a person believed: they raise no further alarm. */
  readonly accepted: ReadonlySet<Key>
  /** Keys that are missing, or missing in the Locks, and not yet believed to be gone; also those that never had an entry. */
  readonly pending: ReadonlySet<Key>
  /** Keys that a Lock named until lately, and for how many readings in a row none does. */
  readonly unlocked: ReadonlyMap<Key, number>
  /** Files in which a Lock stood when they were last read. */
  readonly lockFiles: ReadonlySet<string>
  /** Documents of each kind, valid or not. */
  readonly counts: Readonly<Record<string, number>>
}
