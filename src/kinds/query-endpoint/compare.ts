import type { Json, JsonObject } from '../../lib/json.ts'
import { membersOf } from '../canonical.ts'
import { compareBody } from '../compare-body.ts'
import { showText } from '../difference-text.ts'
import type { Difference } from '../difference.ts'
import type { ObservedEndpoint } from '../observed.ts'
import { ENDPOINT_FIELDS } from './body-shape.ts'

/**
 * Where the reply to an upsert differs from what was asked for.
 * @param body what `endpointBody` gives
 */
export function compareEndpoint(body: JsonObject, reply: ObservedEndpoint): readonly Difference[] {
  return compareBody(ENDPOINT_FIELDS, body, reply as JsonObject) // a parsed reply is JSON
}

/** What an upsert last answered (2.7). */
interface Configured {
  readonly roles: readonly string[]
  readonly openApiKeys: readonly string[]
  readonly allowedOrigins: string
}

/**
 * What an upsert of `body` takes away from what is configured, such as `role sql_console_admin`: roles, then keys, then
 * origins. A field that the body leaves out counts as empty, because an upsert replaces the whole configuration (4.3).
 */
export function takenAway(before: Configured, body: JsonObject): readonly string[] {
  const origins = textsOf('comma-list', body['allowedOrigins'])
  return [
    ...lost('role', before.roles, textsOf('set', body['roles'])),
    ...lost('key', before.openApiKeys, textsOf('set', body['openApiKeys'])),
    // `*` allows every origin that is no longer named
    ...(origins.has('*') ? [] : lost('origin', [...textsOf('comma-list', before.allowedOrigins)], origins)),
  ]
}

function lost(word: string, before: readonly string[], after: ReadonlySet<string>): readonly string[] {
  const names = new Set(before.filter((name) => !after.has(name)))
  return [...names].toSorted().map((name) => showText(`${word} ${name}`))
}

function textsOf(form: 'set' | 'comma-list', value: Json | undefined): ReadonlySet<string> {
  const members = value === undefined || value === null ? [] : (membersOf(form, value) ?? [])
  return new Set(members.filter((member) => typeof member === 'string'))
}
