import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import { PIPE, type Fact, type Place } from './facts.ts'
import { editedValues } from './edit-values.ts'
import { FILLED_IN } from './reply.ts'

/** A body that differs from another one in one field that comes back, and where that has to be seen. */
export interface Change {
  readonly body: JsonObject
  /** Dotted, with `[]` after the name of a list. A field by which an item is found makes it another item. */
  readonly seenAt: string
}

/** Every change of one field, each to another value that the field may have or, where it can tell, to none. */
export function changesOf(body: JsonObject): readonly Change[] {
  return changesIn(PIPE, body)
}

function changesIn(place: Place, value: JsonObject): readonly Change[] {
  return [...place.members.values()].flatMap((member) => {
    const now = value[member.name]
    if (now === undefined || now === null) return []
    return memberChanges(member, now).map(({ to, seenAt }) => ({
      body: Object.fromEntries(
        Object.entries({ ...value, [member.name]: to }).filter(([, kept]) => kept !== undefined),
      ),
      seenAt,
    }))
  })
}

interface To {
  readonly to: Json | undefined
  readonly seenAt: string
}

function memberChanges(place: Place, now: Json): readonly To[] {
  if (place.fact !== undefined) return leafChanges(place.fact, now)
  if (isObject(now)) return changesIn(place, now).map(({ body, seenAt }) => ({ to: body, seenAt }))
  if (!Array.isArray(now)) return []
  const items = now.filter(isObject)
  const others = items.flatMap((item, index) =>
    changesIn(place, item).map(({ body, seenAt }) => ({ to: items.with(index, body), seenAt })),
  )
  return [...others, { to: items.slice(1), seenAt: place.path }]
}

/** A field that is matched by is part of the name of its item. */
export function seenAtOf({ field, form }: Fact): string {
  return form === 'key' ? field.replace(/\.[^.]*$/, '') : field
}

function leafChanges(fact: Fact, now: Json): readonly To[] {
  if (fact.returned === 'no') return []
  const seenAt = seenAtOf(fact)
  const other = { to: editedValues(fact, now, {})[0], seenAt }
  return canBeLost(fact, now) ? [other, { to: undefined, seenAt }] : [other]
}

/** What comes back at times, or is filled in by the server, may be missing; a flag that is off is as good as missing. */
function canBeLost({ field, form, returned }: Fact, now: Json): boolean {
  return returned !== 'may' && form !== 'key' && now !== false && !FILLED_IN.has(field)
}
