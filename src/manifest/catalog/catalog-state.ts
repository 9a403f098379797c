import type { Catalog } from '../../contract/catalog.ts'
import type { Key } from '../../kinds/key.ts'

/** A catalog, and what has to be remembered until the next reading. */
export interface CatalogState {
  readonly catalog: Catalog
  /** Keys that are missing, and for how many readings in a row; from three on they are deleted. */
  readonly missingFor: ReadonlyMap<Key, number>
  /** Missing keys that a forced reading accepted: they raise no further alarm. */
  readonly accepted: ReadonlySet<Key>
  /** Keys that are missing and do not count as deleted yet, also those that never had an entry. */
  readonly pending: ReadonlySet<Key>
  /** Files in which a Lock stood when they were last read. */
  readonly lockFiles: ReadonlySet<string>
  /** Documents of each kind, valid or not. */
  readonly counts: Readonly<Record<string, number>>
}
