import { sameJson, type JsonObject } from '../../src/lib/json.ts'
import { candidatesOf } from './edit-candidates.ts'
import { requestsOf, type Wanted } from './edit-requests.ts'
import { fieldAt, withAt, writtenOf } from './edits.ts'
import { FACTS, type Fact } from './facts.ts'
import { isSet, at } from './look.ts'
import { kindOf } from './patch.ts'
import { patchFaults } from './patch-rules.ts'
import { pipeFaults } from './rules.ts'

/*
 * Edits of a body, each right by the rules of a create: of each field one, and what the facts let somebody send for it. The requests hold
 * of a pipe that runs: of one that is `Completed` nothing can be edited (section 8), so put it into another state first.
 */

export interface Edit {
  /** The row of the facts. */
  readonly fact: Fact
  readonly field: string
  /** Whether the field was there before. */
  readonly isNew: boolean
  readonly before: JsonObject
  readonly after: JsonObject
  /** None where it cannot be changed: then nothing may be sent at all. */
  readonly requests: readonly Wanted[]
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
  const { field, change } = fact
  const isNew = writtenOf(before).every(({ steps }) => fieldAt(steps) !== field)
  let first: Edit | undefined
  for (const after of candidatesOf(before, fact)) {
    if (sameJson(before, after) || pipeFaults(after).length > 0) continue
    const requests = change === 'immutable' ? [] : allowed(before, after)
    first ??= { fact, field, isNew, before, after, requests }
    // one that can be asked for, rather than one that another rule forbids
    if (requests.length > 0) return { ...first, after, requests }
    if (change === 'immutable') break
  }
  return first
}

/** None when a rule of edits, such as R18, forbids it. */
function allowed(before: JsonObject, after: JsonObject): readonly Wanted[] {
  const requests = requestsOf(before, after)
  const patch = requests.find(({ path }) => path === '')
  return patch === undefined || patchFaults(before, patch.body).length === 0 ? requests : []
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
  readonly before: JsonObject
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
        before,
        after: withAt(before, steps, undefined) as JsonObject, // the root of a body is one
      }))
      .filter(({ after }) => pipeFaults(after).length === 0 && isSet(at(after, 'source')))
  )
}
