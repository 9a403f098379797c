import { isMap, isScalar, type Document } from 'yaml'
import { keyOf, type Key } from '../../kinds/key.ts'
import { knownKey, lifecycleOf, MANIFEST_KINDS } from '../../kinds/lookup.ts'
import { LOCK } from '../../kinds/lock/schema.ts'
import { ResourceName } from '../../kinds/metadata.ts'
import { z } from '../../kinds/zod.ts'
import { isObject } from '../../lib/json.ts'

/* What is known of a document whatever else is wrong with it. */

/** Whom a document is about, as far as it is known. */
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

/** Where a Service names the mounted secret that it signs in with. */
const PLACE = ['spec', 'credentials', 'secretRef', 'name'] as const

/** The mounted secret that the value of a Service names, whatever else is wrong with it. */
export function credentialsIn(value: unknown): string | undefined {
  let part = value
  for (const name of PLACE) part = isObject(part) ? part[name] : undefined
  return typeof part === 'string' ? part : undefined
}

/** The same from the syntax tree of a document that is broken elsewhere. */
export function credentialsInNodes(document: Document): string | undefined {
  if (!document.hasIn(PLACE)) return undefined
  const node = document.getIn(PLACE, true)
  return isScalar(node) && typeof node.value === 'string' ? node.value : undefined
}

const Id = z.guid()

/** The entries of a `Lock` that are well-formed, whatever else is wrong with it. Ids in lower case. */
export function readLocks(value: unknown): ReadonlyMap<Key, string> {
  const locks = new Map<Key, string>()
  const spec = isObject(value) ? value.spec : undefined
  const pipes = isObject(spec) ? spec.pipes : undefined
  if (!isObject(pipes)) return locks
  for (const [text, id] of Object.entries(pipes)) {
    const key = knownKey(text)
    const parsed = Id.safeParse(id)
    if (key !== undefined && lifecycleOf(key) === 'create-once' && parsed.success)
      locks.set(key, parsed.data.toLowerCase())
  }
  return locks
}
