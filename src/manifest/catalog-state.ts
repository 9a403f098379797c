import type { Catalog } from '../kinds/catalog.ts'
import type { Key } from '../kinds/key.ts'

/** A catalog, and what has to be remembered until the next reading. */
export interface CatalogState {
  readonly catalog: Catalog
  /** Keys that are missing, and for how many readings in a row; from three on they are gone. */
  readonly absences: ReadonlyMap<Key, number>
  /** Missing keys whose absence a person believed: they raise no further alarm. */
  readonly accepted: ReadonlySet<Key>
  /** Keys that are missing and not yet believed to be gone, also those that never had an entry. */
  readonly pending: ReadonlySet<Key>
  /** The file in which a lock was last read: while that file is broken, the lock holds. */
  readonly lockFiles: ReadonlyMap<Key, string>
  /** Files that a reading saw whole and that are not gone since; an empty text once one saw everything. */
  readonly seen: ReadonlySet<string>
  /** Documents of each kind, valid or not. */
  readonly counts: Readonly<Record<string, number>>
  /** Files that take part in a finding that needs more than one document. */
  readonly crossed: ReadonlySet<string>
  /** False when some file could not be read in full: a manifest, or a Lock, may stand there unseen. */
  readonly complete: boolean
}
