import type { Key } from '../../src/kinds/key.ts'
import type { ReconcileResult } from '../../src/reconcile/context.ts'
import type { Kind } from '../../src/kinds/definition.ts'
import type { Profile } from '../../src/kinds/profile.ts'
import { PIPE } from '../../src/kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { type Given, MINUTE } from './given.ts'
import { story, worldAfter, type Ending } from './story.ts'

function listed(kind: Kind): Kind {
  const { list } = PIPE.operations
  if (kind.lifecycle !== 'create-once' || list === undefined) return kind
  return { ...kind, operations: { ...kind.operations, list } }
}

/** `default`, for a service that has a list. */
export const LISTING: Profile = { ...DEFAULT, kinds: DEFAULT.kinds.map(listed) }

/** A key for so long, each time when the result before says. @returns what each came to */
export async function during(world: Given, key: Key, ms: number): Promise<readonly ReconcileResult[]> {
  const end = world.clock.monotonic() + ms
  const results: ReconcileResult[] = []
  while (world.clock.monotonic() < end) {
    const result = await world.go(key)
    results.push(result)
    await world.clock.advance(result.next?.afterMs ?? MINUTE)
  }
  return results
}

/** As {@link story}, for a service that has a list. */
export function listedStory(text: string, ending: Ending = {}): Promise<void> {
  return story(text, ending, { profile: LISTING })
}

/** As {@link worldAfter}, for a service that has a list. */
export function listedWorld(text: string, ending: Ending = {}): Promise<Given> {
  return worldAfter(text, ending, { profile: LISTING })
}
