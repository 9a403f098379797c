import type { ResourceView } from '../../src/contract/view.ts'
import type { Key } from '../../src/kinds/key.ts'
import { type Explanation, messageOf } from '../../src/plan/reason.ts'

export function viewMessage(view: ResourceView | undefined): string {
  return view === undefined ? '' : messageOf(view.because, { key: view.key })
}

/** @param key `Pipe` is enough where the message names no key */
export function conditionMessage(condition: Explanation | undefined, key: Key = 'Pipe/orders'): string {
  return condition === undefined ? '' : messageOf(condition, { key })
}

/** An explanation that starts with these words. */
export function saying(said: string): Explanation {
  return { reason: 'InvalidManifest', facts: { said } }
}
