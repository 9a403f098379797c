import { parseArgs } from 'node:util'

export interface Options {
  /** How long faults, kills and edits go on; settling comes on top. */
  readonly minutes: number
  readonly seed: string
  /** About how many pipes have a manifest at a time. */
  readonly manifests: number
  /** Where the report goes as JSON. */
  readonly json: string | undefined
}

/** @throws Error with what is wrong, for wrong use */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string', default: String(Date.now()) },
      manifests: { type: 'string', default: '200' },
      json: { type: 'string' },
    },
  })
  const minutes = Number(values.minutes)
  const manifests = Number(values.manifests)
  if (!(minutes > 0 && minutes <= 24 * 60)) throw new Error('--minutes: give a number above 0')
  if (!Number.isInteger(manifests) || manifests < 1)
    throw new Error('--manifests: give a whole number from 1')
  return { minutes, seed: values.seed, manifests, json: values.json }
}
