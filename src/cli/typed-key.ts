import type { Key } from '../kinds/key.ts'
import { knownKey, MANIFEST_KINDS } from '../kinds/lookup.ts'

/** The kind that a person means, however it is written: `pipe` is Pipe. */
export function typedKind(text: string): string {
  return MANIFEST_KINDS.find((kind) => kind.toLowerCase() === text.toLowerCase()) ?? text
}

/** The key that a person means, or `undefined` when it is none. */
export function typedKey(text: string): Key | undefined {
  const [kind = '', ...name] = text.split('/')
  return knownKey([typedKind(kind), ...name].join('/'))
}
