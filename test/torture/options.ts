import { parseArgs } from 'node:util'
import { PROFILES, type ProfileName } from './scene.ts'

export interface Options {
  /** How long faults, kills and edits go on; settling comes on top. */
  readonly minutes: number
  /** After so many batches of edits it ends before; undefined: it does not. */
  readonly steps: number | undefined
  readonly seed: string
  readonly profile: ProfileName
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
      steps: { type: 'string' },
      profile: { type: 'string', default: 'default' },
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
  const steps = values.steps === undefined ? undefined : Number(values.steps)
  if (steps !== undefined && !(Number.isInteger(steps) && steps > 0))
    throw new Error('--steps: give a whole number from 1')
  const profile = PROFILES.find((name) => name === values.profile)
  if (profile === undefined) throw new Error(`--profile: give one of ${PROFILES.join(', ')}`)
  return { minutes, steps, seed: values.seed, profile, manifests, json: values.json }
}
