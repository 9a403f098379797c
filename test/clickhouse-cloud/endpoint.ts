import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import type { Random } from '../torture/random.ts'
import { UUID } from './formats.ts'
import { shuffled, writtenIn } from './reply-forms.ts'
import type { Fault } from './shape.ts'

/* The query endpoint (section 4.12): three fields, all needed, because each post replaces all of it. */

const ROLES = ['sql_console_read_only', 'sql_console_admin']

/** A domain, which may begin with a joker; the facts say no more of them. */
const DOMAIN = /^(?:https?:\/\/)?(?:\*\.)?[-A-Za-z0-9]+(?:\.[-A-Za-z0-9]+)*(?::\d{1,5})?$|^\*$/

const FIELDS: Readonly<Record<string, (value: Json) => boolean>> = {
  roles: (value) => isListOf(value, (item) => ROLES.includes(item)),
  openApiKeys: (value) => isListOf(value, (item) => UUID.test(item)),
  // the one text that may be empty: nobody may ask from a browser
  allowedOrigins: (value) =>
    typeof value === 'string' && (value === '' || value.split(',').every((part) => DOMAIN.test(part.trim()))),
}

export function endpointFaults(body: Json): readonly Fault[] {
  if (!isObject(body)) return [{ field: '', rule: 'type' }]
  const names = Object.keys(FIELDS)
  return [
    ...Object.keys(body)
      .filter((name) => !names.includes(name))
      .map((field) => ({ field, rule: 'unknown field' })),
    ...names.flatMap((field) => {
      const value = body[field]
      if (value === undefined) return [{ field, rule: 'needed' }]
      return FIELDS[field]?.(value) === true ? [] : [{ field, rule: 'value' }]
    }),
  ]
}

function isListOf(value: Json, isRight: (item: string) => boolean): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && isRight(item))
}

export function endpointReply(body: JsonObject, random: Random): JsonObject {
  return {
    id: 'a2c8f0de-5b16-4f8b-9c31-0d7e4b6a9f52',
    roles: writtenIn('set', body['roles'] ?? [], random),
    openApiKeys: writtenIn('set', body['openApiKeys'] ?? [], random),
    allowedOrigins: writtenIn('comma set', body['allowedOrigins'] ?? '', random),
    ...Object.fromEntries(shuffled([['addedLater', null] as const], random).slice(random.below(2))),
  }
}
