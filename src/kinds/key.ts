/** Every kind of manifest, in the order in which people read them. `Lock` names ids and is itself no resource. */
export const KINDS = ['Service', 'Pipe', 'QueryEndpoint', 'Alert', 'Lock'] as const

export type Kind = (typeof KINDS)[number]

/** The kinds that have conditions, a place in the ledger and on the page. */
export const RESOURCE_KINDS = ['Service', 'Pipe', 'QueryEndpoint', 'Alert'] as const

export type ResourceKind = (typeof RESOURCE_KINDS)[number]

/** `Kind/name`, the identity of a resource. */
export type Key = `${ResourceKind}/${string}`

export function keyOf(kind: ResourceKind, name: string): Key {
  return `${kind}/${name}`
}

/** The key that a text names, or `undefined` when it is not `Kind/name` with a kind we know. */
export function parseKey(text: string): Key | undefined {
  const slash = text.indexOf('/')
  const kind = RESOURCE_KINDS.find((known) => known === text.slice(0, slash))
  return kind !== undefined && slash < text.length - 1 ? keyOf(kind, text.slice(slash + 1)) : undefined
}

export function kindOf(key: Key): ResourceKind {
  return key.slice(0, key.indexOf('/')) as ResourceKind // a Key is made of a kind and a slash
}

export function nameOf(key: Key): string {
  return key.slice(key.indexOf('/') + 1)
}
