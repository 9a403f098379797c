import { LOCK } from '../kinds/lock/schema.ts'
import { isMap, isScalar, type Document } from 'yaml'
import { isObject } from '../lib/json.ts'
import { keyOf, type Key } from '../kinds/key.ts'
import { MANIFEST_KINDS } from '../kinds/lookup.ts'
import { ResourceName } from '../kinds/metadata.ts'

/** Whom a document is about, as far as it can be told. */
export interface Identity {
  readonly kind: string | undefined
  readonly name: string | undefined
  readonly key: Key | undefined
}

export const NOBODY: Identity = { kind: undefined, name: undefined, key: undefined }

/** From the value of a document. */
export function identityOf(value: unknown): Identity {
  if (!isObject(value)) return NOBODY
  const { kind, metadata } = value
  return identityFrom(kind, isObject(metadata) ? metadata.name : undefined)
}

/** The same from the syntax tree of a document that is broken elsewhere. */
export function identityOfNodes(document: Document): Identity {
  const root = document.contents
  if (!isMap(root)) return NOBODY
  const metadata = root.get('metadata', true)
  const name = isMap(metadata) ? metadata.get('name', true) : undefined
  const kind = root.get('kind', true)
  return identityFrom(isScalar(kind) ? kind.value : undefined, isScalar(name) ? name.value : undefined)
}

function identityFrom(kind: unknown, name: unknown): Identity {
  const known = MANIFEST_KINDS.find((candidate) => candidate === kind)
  const named = ResourceName.safeParse(name)
  const text = named.success ? named.data : undefined
  const key =
    known === undefined || known === LOCK.name || text === undefined ? undefined : keyOf(known, text)
  return { kind: known, name: text, key }
}
