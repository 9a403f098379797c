/** `Kind/name`, the identity of a resource. */
export type Key = `${string}/${string}`

export function keyOf(kind: string, name: string): Key {
  return `${kind}/${name}`
}

/** The key that a text reads as, or `undefined`; whether there is such a kind, the registry knows. */
export function parseKey(text: string): Key | undefined {
  return /^[A-Z][A-Za-z]*\/./.test(text) ? (text as Key) : undefined // has the slash
}

/** The name of the kind. */
export function kindOf(key: Key): string {
  return key.slice(0, key.indexOf('/'))
}

export function nameOf(key: Key): string {
  return key.slice(key.indexOf('/') + 1)
}
