import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import type { Random } from '../torture/random.ts'
import { oneOf, shuffled } from './reply-forms.ts'

type Member = readonly [name: string, value: Json | undefined]

/** An alert as it is told (section 4.13): what is not set is null or absent, and what is new may be anywhere. */
export function alertReply(alert: JsonObject, random: Random): JsonObject {
  const members = Object.entries(alert).map(([name, value]): Member => {
    if (value === null) return [name, oneOf([null, undefined], random)]
    return [name, isObject(value) ? alertReply(value, random) : value]
  })
  const added: Member = ['addedLater', random.below(9)]
  return Object.fromEntries(shuffled([...members, added], random))
}
