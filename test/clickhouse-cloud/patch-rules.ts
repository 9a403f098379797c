import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import { sourceKey } from './destination-rules.ts'
import { DATABASE_KINDS, FACTS, SOURCE_NAMES } from './facts.ts'
import { at, isSet, itemsAt, objectAt, unless } from './look.ts'
import { isAsItWas, kindOf, LOGINS, patched } from './patch.ts'
import { AS_THEY_WERE, isDropped, patchTree } from './patch-tree.ts'
import { pipeFaults } from './rules.ts'
import { treeFaults, type Fault } from './shape.ts'

/*
 * What is wrong with a `PATCH {pipe}` (sections 3.1, 5 and 8), as far as the pipe and the request show it. Lenient where nobody knows:
 * fields of note 2 change; credentials alone are a rotation; removing and adding the same table in one go is taken.
 */

/** What the document requires in every PATCH of a kind; a mapping edit alone goes without (P#618). */
const COMPANIONS: Readonly<Record<string, readonly string[]>> = {
  pubsub: ['authentication'],
  mysql: ['host', 'port'],
  mongodb: ['uri', 'readPreference'],
}

/** What has no part in how the source is reached. */
const NO_CONNECTION = [
  'settings',
  'tableMappingsToAdd',
  'tableMappingsToRemove',
  'serverId',
  'ackDeadline',
  'skipInitialLoad',
  'startAfter',
  'path',
  'azureContainerName',
]

/** What holds a password or a key, and has to come beside the rest of the connection. */
const KEYS = LOGINS.filter((name) => name !== 'iamRole')

export function patchFaults(body: JsonObject, patch: Json): readonly Fault[] {
  if (!isObject(patch)) return [{ field: '', rule: 'type' }]
  if (Object.keys(patch).length === 0) return [{ field: '', rule: 'R41' }]
  const kind = kindOf(body)
  const own = withoutOthers(patch, kind)
  const faults = [
    ...otherKinds(patch, kind),
    ...treeFaults(patchTree(kind), own).map(named),
    ...AS_THEY_WERE.filter((field) => isSet(at(own, field)) && !isAsItWas(body, own, field)).map((field) => ({
      field,
      rule: 'immutable',
    })),
    ...columnFaults(body, own),
    ...armFaults(kind, objectAt(body, `source.${kind}`), objectAt(own, `source.${kind}`)),
  ]
  // the rules of a create hold of what comes out as well
  return faults.length > 0 ? faults : pipeFaults(patched(body, own))
}

/** Kinds that are not used may be null (R1). */
function withoutOthers(patch: JsonObject, kind: string): JsonObject {
  const { source } = patch
  if (!isObject(source)) return patch
  const others = SOURCE_NAMES.filter((name) => name !== kind)
  return {
    ...patch,
    source: Object.fromEntries(Object.entries(source).filter(([name]) => !others.includes(name))),
  }
}

function otherKinds(patch: JsonObject, kind: string): readonly Fault[] {
  return SOURCE_NAMES.filter((name) => name !== kind && isSet(at(patch, `source.${name}`))).map((name) => ({
    field: `source.${name}`,
    rule: 'R2',
  }))
}

/** A field of the facts that no PATCH has is one that cannot change. */
function named(fault: Fault): Fault {
  const below = `${fault.field}.`
  const isFact = FACTS.some(
    ({ field, change }) =>
      change === 'immutable' && (field === fault.field || field.replaceAll('[]', '').startsWith(below)),
  )
  return fault.rule === 'unknown field' && isFact ? { ...fault, rule: 'immutable' } : fault
}

/** Both or none; but a pipe that never had mappings has none to send, and an empty list is for nobody. */
function columnFaults(body: JsonObject, patch: JsonObject): readonly Fault[] {
  const hasColumns = isSet(at(patch, 'destination.columns'))
  const hasMappings = isSet(patch['fieldMappings'])
  return [
    ...unless(hasColumns || !isSet(patch['destination']), 'destination.columns', 'needed'),
    ...unless(hasColumns || !hasMappings, 'fieldMappings', 'without columns'),
    ...unless(!hasColumns || hasMappings || !isSet(body['fieldMappings']), 'destination.columns', 'alone'),
  ]
}

function armFaults(kind: string, old: JsonObject, arm: JsonObject): readonly Fault[] {
  const names = Object.keys(arm)
  const isMappingsOnly = names.every((name) => name.startsWith('tableMappingsTo'))
  const companions = isMappingsOnly ? [] : (COMPANIONS[kind] ?? [])
  const faults = [
    ...companions.flatMap((name) => unless(isSet(arm[name]), name, 'companion')),
    ...loginFaults(kind, old, arm),
    ...mappingFaults(old, arm),
  ]
  return faults.map(({ field, rule }) => ({ field: `source.${kind}.${field}`, rule }))
}

/** The connection is tried anew, with what came along (P#617). */
function loginFaults(kind: string, old: JsonObject, arm: JsonObject): readonly Fault[] {
  const method = arm['authentication'] ?? old['authentication']
  const connects = connectionFields(kind, arm).length > 0
  const isSwitch = isSet(arm['authentication']) && method !== (old['authentication'] ?? 'basic')
  // N7: Pub/Sub keeps its key
  const owed = KEYS.filter((name) => kind !== 'pubsub' && isSet(old[name]) && connects && !isSwitch)
  return [
    ...owed.flatMap((name) => unless(isSet(arm[name]), name, 'credentials beside a connection')),
    ...unless(!isAccountSwitch(old, arm), 'authentication', 'R18'),
  ]
}

/** Fields of a request by which the source is reached; what is dropped is none. */
function connectionFields(kind: string, arm: JsonObject): readonly string[] {
  const dropped = FACTS.filter(isDropped).map(({ field }) => field.split('.')[2])
  return Object.keys(arm).filter(
    (name) => !NO_CONNECTION.includes(name) && !(kind === 'kafka' && dropped.includes(name)),
  )
}

/** To or from the account of a service (R18). */
export function isAccountSwitch(old: JsonObject, arm: JsonObject): boolean {
  const [from, to] = [old['authentication'], arm['authentication']]
  return old['type'] === 'gcs' && isSet(to) && (from === 'SERVICE_ACCOUNT') !== (to === 'SERVICE_ACCOUNT')
}

/** Not twice: what is added is not there, and what is removed is (R27). */
function mappingFaults(old: JsonObject, arm: JsonObject): readonly Fault[] {
  const there = new Map(itemsAt(old, 'tableMappings').map((table) => [sourceKey(table), table]))
  const removed = itemsAt(arm, 'tableMappingsToRemove')
  const gone = new Set(removed.map(sourceKey))
  return [
    ...itemsAt(arm, 'tableMappingsToAdd')
      .filter((table) => there.has(sourceKey(table)) && !gone.has(sourceKey(table)))
      .map(() => ({ field: 'tableMappingsToAdd', rule: 'R27' })),
    ...removed.flatMap((table) => {
      const target = there.get(sourceKey(table))?.['targetTable']
      return [
        ...unless(target !== undefined, 'tableMappingsToRemove', 'not there'),
        ...unless(
          [undefined, target].includes(table['targetTable']),
          'tableMappingsToRemove[].targetTable',
          'not there',
        ),
      ]
    }),
    ...unless(gone.size === removed.length, 'tableMappingsToRemove', 'twice'),
  ]
}

/** Whether an edit touches the tables of a database, or anything of its source. */
export function touches(body: JsonObject, patch: JsonObject, what: 'mappings' | 'source'): boolean {
  const kind = kindOf(body)
  const names = Object.keys(objectAt(patch, `source.${kind}`))
  return (
    DATABASE_KINDS.includes(kind) &&
    names.some((name) => what === 'source' || name.startsWith('tableMappingsTo'))
  )
}
