export type Key = `${string}/${string}`

export function keyOf(kind: string, name: string): Key {
  return `${kind}/${name}`
}

/** Parses `Kind/name`. The kind can be unknown. Undefined: the text has another form. */
export function parseKey(text: string): Key | undefined {
  return /^[A-Z][A-Za-z]*\/./.test(text) ? (text as Key) : undefined // has the slash
}

export function kindOf(key: Key): string {
  return key.slice(0, key.indexOf('/'))
}

export function nameOf(key: Key): string {
  return key.slice(key.indexOf('/') + 1)
}
