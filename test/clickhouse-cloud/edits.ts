import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import { asSecretRef } from '../../src/kinds/secret-ref.ts'
import { PIPE, type Fact, type Place } from './facts.ts'

/** Steps from the root of a body; a number is an item of a list. */
export type Steps = readonly (string | number)[]

/** A value that is written in a body. */
export interface Written {
  readonly steps: Steps
  readonly value: Json
  readonly fact: Fact | undefined
  readonly place: Place
}

/** Every leaf and every object of a body, as the facts know them. */
export function writtenOf(body: JsonObject): readonly Written[] {
  return writtenIn(PIPE, body)
}

export function writtenIn(place: Place, body: JsonObject): readonly Written[] {
  return below(place, body, [])
}

function below(place: Place, value: JsonObject, steps: Steps): readonly Written[] {
  return [...place.members.values()].flatMap((member) => {
    const now = value[member.name]
    return now === undefined ? [] : writtenAt(member, now, [...steps, member.name])
  })
}

function writtenAt(place: Place, value: Json, steps: Steps): readonly Written[] {
  const here = { steps, value, fact: place.fact, place }
  if (place.fact !== undefined || asSecretRef(value) !== undefined) return [here]
  if (Array.isArray(value))
    return [here, ...value.filter(isObject).flatMap((item, index) => below(place, item, [...steps, index]))]
  return isObject(value) ? [here, ...below(place, value, steps)] : [here]
}

/** The body with another value there; with none, the field is gone. */
export function withAt(body: Json, [step, ...rest]: Steps, value: Json | undefined): Json {
  if (step === undefined) return value ?? null
  if (typeof step === 'number') {
    const items: readonly Json[] = Array.isArray(body) ? body : []
    if (rest.length === 0 && value === undefined) return items.toSpliced(step, 1)
    return items.with(step, withAt(items[step] ?? null, rest, value))
  }
  const { [step]: now, ...others } = isObject(body) ? body : {}
  if (rest.length === 0 && value === undefined) return others
  return { ...others, [step]: withAt(now ?? {}, rest, value) }
}

/** As the facts write it: `destination.columns[].name`. */
export function fieldAt(steps: Steps): string {
  return steps
    .map((step) => (typeof step === 'number' ? '[]' : `.${step}`))
    .join('')
    .slice(1)
}
