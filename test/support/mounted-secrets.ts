import { createSecretMask, type SecretMask } from '../../src/lib/mask/secret-mask.ts'

/* Secrets that stand in the texts of replies. What is decided must be the same with them and without. */

/** What is mounted: the password before and after it is rotated, and secrets of others. */
export interface Mounted {
  readonly name: string
  readonly old: string
  readonly new: string
  readonly others: readonly string[]
}

const IDS = Array.from({ length: 9 }, (_, at) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`)

export const MOUNTED: readonly Mounted[] = [
  {
    name: 'equal to texts of replies',
    old: 'Stopped',
    new: 'Running',
    others: ['Stopping', 'a', 'b', 'first', 'second', 'must be paused', 'request', 'orders', ...IDS],
  },
  {
    name: 'with texts of replies in them',
    old: 'Snapshot!Stopped!7',
    new: 'Snapshot!Running!7',
    others: ['xStoppingx', 'my-orders-1', ...IDS.map((id) => `${id}/key`)],
  },
  { name: 'of one character', old: 'S', new: 'R', others: ['g', '-', '0', ' '] },
]

/** A mask for the scenarios of a reconcile. The variable MOUNTED_SECRETS names the secrets that it knows; without it there are none. */
export function scenarioMask(): SecretMask {
  const name = process.env['MOUNTED_SECRETS']
  const mounted = MOUNTED.find((each) => each.name === name)
  if (name !== undefined && mounted === undefined) throw new Error(`there are no secrets "${name}"`)
  return createSecretMask(mounted && [mounted.old, mounted.new, ...mounted.others])
}
