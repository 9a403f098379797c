import type { JsonObject } from '../../lib/json.ts'
import { wordIssues } from '../request-schema.ts'
import { type Before, type Change, mistake, obstacle } from './change.ts'
import { emptyPlace, isOfDatabase, kindOf, newlyBroken, objectIn, worded } from './cloud-pipe.ts'
import { ScalingPatch, SettingsPatch } from './patch-schema.ts'

/** `PATCH {pipe}/scaling`: merges; what R36 gives to each source kind. */
export function scale({ pipe, state, now }: Before, json: JsonObject): Change {
  const shape = ScalingPatch.safeParse(json)
  if (!shape.success) return mistake(wordIssues(shape.error))
  const empty = emptyPlace(json)
  if (empty !== undefined) return mistake(`${empty}: must not be empty`)
  if (isOfDatabase(pipe.body)) return mistake(`scaling: there is none for ${kindOf(pipe.body)}`)
  if (state === 'Completed') return obstacle('the pipe is Completed: it cannot be scaled')
  const after = { ...pipe.body, scaling: { ...objectIn(pipe.body, 'scaling'), ...json } }
  const broken = newlyBroken(pipe.body, after, { scaling: json })
  if (broken !== undefined) return mistake(worded(broken))
  const internals = { ...pipe.internals, scaledAt: now }
  return { ok: true, pipe: { ...pipe, updatedAt: now, body: after, internals } }
}

/** `PUT {pipe}/settings`: merges all the same; what R37 gives to each source kind. `0` and `false` are kept. */
export function configure({ pipe, state, now }: Before, json: JsonObject): Change {
  if (isOfDatabase(pipe.body)) {
    return { ok: false, status: 404, error: 'NOT_FOUND: this pipe has no settings' }
  }
  const shape = SettingsPatch.safeParse(json)
  if (!shape.success) return mistake(wordIssues(shape.error))
  const empty = emptyPlace(json)
  if (empty !== undefined) return mistake(`${empty}: must not be empty`)
  if (state === 'Completed') return obstacle('the pipe is Completed: it cannot be configured')
  const kind = kindOf(pipe.body)
  const foreign = Object.keys(json).find((name) => isOfMessages(name) === (kind === 'objectStorage'))
  if (foreign !== undefined) return mistake(`${foreign}: is no setting of ${kind}`)
  const settings = { ...objectIn(pipe.body, 'settings'), ...json }
  return { ok: true, pipe: { ...pipe, updatedAt: now, body: { ...pipe.body, settings } } }
}

/** Any other setting is one of files. */
function isOfMessages(setting: string): boolean {
  return setting.startsWith('streaming_')
}
