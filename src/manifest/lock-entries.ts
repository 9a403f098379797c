import { knownKey, lifecycleOf } from '../kinds/lookup.ts'
import { z } from '../kinds/zod.ts'
import { isObject } from '../lib/json.ts'
import type { Key } from '../kinds/key.ts'

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
