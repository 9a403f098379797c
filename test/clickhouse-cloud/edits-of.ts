import { sameJson, type JsonObject } from '../../src/lib/json.ts'
import { candidatesOf } from './edit-candidates.ts'
import { fieldAt, withAt, writtenOf } from './edits.ts'
import { FACTS, type Fact } from './facts.ts'
import { isSet, at, objectAt } from './look.ts'
import { kindOf } from './patch.ts'
import { isAccountSwitch } from './patch-rules.ts'
import { pipeFaults } from './rules.ts'

/*
 * Edits of a body, each right by the rules of a create: of each field one, and whether the facts let somebody ask for it. That holds of a
 * pipe that runs: of one that is `Completed` nothing can be edited (section 8), so put it into another state first.
 */

export interface Edit {
  readonly fact: Fact
  readonly field: string
  readonly isNew: boolean
  readonly after: JsonObject
  readonly canBeSent: boolean
}

/** Fields of the kind of a body, and whether it lacks them. */
export function editableFields(before: JsonObject): readonly Pick<Edit, 'fact' | 'isNew'>[] {
  const written = new Set(writtenOf(before).map(({ steps }) => fieldAt(steps)))
  return (
    FACTS.filter((fact) => isOfKind(fact, kindOf(before)))
      .map((fact) => ({ fact, isNew: !written.has(fact.field) }))
      // what only a rule makes needed is for others nothing to have
      .filter(({ fact, isNew }) => !isNew || !/^R\d/.test(fact.needed))
  )
}

/** None where the body cannot have the field. */
export function editOf(before: JsonObject, fact: Fact): Edit | undefined {
  const { field } = fact
  const isNew = writtenOf(before).every(({ steps }) => fieldAt(steps) !== field)
  let first: Edit | undefined
  for (const after of candidatesOf(before, fact)) {
    if (sameJson(before, after) || pipeFaults(after).length > 0) continue
    first ??= { fact, field, isNew, after, canBeSent: false }
    // one that can be asked for, rather than one that another rule forbids
    if (canBeSent(before, after, fact)) return { ...first, after, canBeSent: true }
    if (fact.change === 'immutable') break
  }
  return first
}

/** Of BigQuery only the settings of any kind; R18 forbids some others. */
function canBeSent(before: JsonObject, after: JsonObject, { field, change }: Fact): boolean {
  const kind = kindOf(before)
  if (change === 'immutable') return false
  if (kind === 'bigquery') return field === 'name' || field.startsWith('settings.')
  const path = `source.${kind}`
  return !isAccountSwitch(objectAt(before, path), objectAt(after, path))
}

/** Of other kinds it is not known what a setting or a size does (R36, R37), so nobody needs to take it. */
function isOfKind({ field }: Fact, kind: string): boolean {
  if (field.startsWith('settings.streaming_')) return ['kafka', 'kinesis', 'pubsub'].includes(kind)
  if (field === 'settings.kafka_read_committed') return kind === 'kafka'
  if (field.startsWith('settings.')) return kind === 'objectStorage'
  if (field.startsWith('scaling.')) return ['kafka', 'kinesis', 'objectStorage'].includes(kind)
  return (
    !field.startsWith('source.') || field === 'source.validateSamples' || field.startsWith(`source.${kind}.`)
  )
}

/** A body without one field that it may go without. */
export interface Clearing {
  readonly field: string
  readonly after: JsonObject
}

/**
 * For none of them is a way known to say so (section 3.1): nothing may be sent for it. A flag is left out, because one that is off is as
 * good as unset.
 */
export function clearingsOf(before: JsonObject): readonly Clearing[] {
  return (
    writtenOf(before)
      .filter(({ fact, steps }) => fact !== undefined && fact.type !== 'bool' && !steps.includes(0))
      .filter(({ fact }) => fact?.change !== 'mappings' && fact?.change !== 'immutable')
      // a login would be left behind
      .filter(({ steps }) => steps.at(-1) !== 'authentication')
      .map(({ steps }) => ({
        field: fieldAt(steps),
        after: withAt(before, steps, undefined) as JsonObject, // the root of a body is one
      }))
      .filter(({ after }) => pipeFaults(after).length === 0 && isSet(at(after, 'source')))
  )
}
