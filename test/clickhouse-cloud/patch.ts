import { isObject, sameJson, type Json, type JsonObject } from '../../src/lib/json.ts'
import { sourceKey } from './destination-rules.ts'
import { FACTS, SOURCE_NAMES } from './facts.ts'
import { fieldAt, writtenIn } from './edits.ts'
import { at, isSet, itemsAt, objectAt } from './look.ts'
import { isDropped, patchTree } from './patch-tree.ts'

/* What a `PATCH {pipe}` makes of a pipe (section 3.1): it merges, and what a kind drops is not applied. */

/** How somebody logs in: a switch of the method takes all of it along. */
export const LOGINS: readonly string[] = [
  'credentials',
  'accessKey',
  'serviceAccountKey',
  'connectionString',
  'iamRole',
]

/** The one kind of source of a body that was taken. */
export function kindOf(body: JsonObject): string {
  return SOURCE_NAMES.find((name) => isSet(at(body, `source.${name}`))) ?? ''
}

/** The fields that are taken and not applied. */
export function droppedOf(body: JsonObject, patch: JsonObject): readonly string[] {
  const fields = writtenIn(patchTree(kindOf(body)), patch)
    .filter(({ fact }) => fact !== undefined && (isDropped(fact) || fact.change === 'settings'))
    .map(({ steps }) => fieldAt(steps))
  return [...new Set(fields)]
}

export function patched(body: JsonObject, patch: JsonObject): JsonObject {
  const kind = kindOf(body)
  const { name, source, destination, fieldMappings } = patch
  const {
    tableMappingsToAdd: _add,
    tableMappingsToRemove: _remove,
    ...arm
  } = objectAt(patch, `source.${kind}`)
  const old = objectAt(body, `source.${kind}`)
  const mappings = mapped(old, objectAt(patch, `source.${kind}`))
  const { validateSamples } = isObject(source) ? source : {}
  return {
    ...body,
    ...(name === undefined ? {} : { name }),
    source: {
      ...objectAt(body, 'source'),
      ...(validateSamples === undefined ? {} : { validateSamples }),
      [kind]: { ...merged(withoutLogin(old, arm), applied(kind, arm)), ...mappings },
    },
    ...(destination === undefined
      ? {}
      : { destination: { ...objectAt(body, 'destination'), columns: at(patch, 'destination.columns') } }),
    ...(fieldMappings === undefined ? {} : { fieldMappings }),
  }
}

function applied(kind: string, arm: JsonObject): JsonObject {
  const drops = new Set(FACTS.filter(isDropped).map(({ field }) => field.split('.')[2]))
  return kind === 'kafka' ? Object.fromEntries(Object.entries(arm).filter(([name]) => !drops.has(name))) : arm
}

/** What the new method does not take is gone, because nothing can be said to clear it; that is the lenient reading. */
function withoutLogin(old: JsonObject, arm: JsonObject): JsonObject {
  const { authentication } = arm
  if (authentication === undefined || authentication === (old['authentication'] ?? 'basic')) return old
  return Object.fromEntries(Object.entries(old).filter(([name]) => !LOGINS.includes(name)))
}

/** Absent fields stay; a list and a login are replaced as a whole. */
function merged(old: JsonObject, patch: JsonObject): JsonObject {
  const members = Object.entries(patch).map(([name, value]): readonly [string, Json | undefined] => {
    const before = old[name]
    return [
      name,
      isObject(before) && isObject(value) && !LOGINS.includes(name) ? merged(before, value) : value,
    ]
  })
  return { ...old, ...Object.fromEntries(members) }
}

function mapped(old: JsonObject, arm: JsonObject): JsonObject {
  const removed = itemsAt(arm, 'tableMappingsToRemove').map(sourceKey)
  const added = itemsAt(arm, 'tableMappingsToAdd')
  if (removed.length + added.length === 0) return {}
  const kept = itemsAt(old, 'tableMappings').filter((table) => !removed.includes(sourceKey(table)))
  return { tableMappings: [...kept, ...added] }
}

/** Whether a patch says something of what it does not change. */
export function isAsItWas(body: JsonObject, patch: JsonObject, field: string): boolean {
  return sameJson(at(body, field) ?? 'basic', at(patch, field))
}
