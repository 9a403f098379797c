import type { JsonObject } from '../../src/lib/json.ts'
import { FACTS } from './facts.ts'
import { at, textOf } from './look.ts'
import { withAt } from './edits.ts'

/** What has to be mounted for a reference. */
export interface Mounted {
  readonly name: string
  readonly key: string
  readonly text: string
}

/** A body as a manifest may have it: a reference in place of each text that the facts call a secret. */
export function withRefs(body: JsonObject): {
  readonly spec: JsonObject
  readonly secrets: readonly Mounted[]
} {
  const held = FACTS.filter(({ field, isSecret }) => isSecret && typeof at(body, field) === 'string')
  const secrets = held.map(({ field }) => ({
    field,
    name: 'edited',
    key: field.replaceAll('.', '-'),
    text: textOf(at(body, field)),
  }))
  const spec = secrets.reduce(
    (now, { field, name, key }) => withAt(now, field.split('.'), { secretRef: { name, key } }) as JsonObject, // the root of a body is one
    body,
  )
  return { spec, secrets: secrets.map(({ name, key, text }) => ({ name, key, text })) }
}
