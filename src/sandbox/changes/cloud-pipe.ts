import { pipeRules } from '../../kinds/profiles/clickhouse-cloud/pipe/rules.ts'
import type { PipeManifest } from '../../kinds/profiles/clickhouse-cloud/pipe/schema.ts'
import {
  isDatabase,
  SOURCE_KINDS,
  type SourceKind,
} from '../../kinds/profiles/clickhouse-cloud/pipe/source.ts'
import { pipeStates } from '../../kinds/profiles/clickhouse-cloud/pipe/states.ts'
import type { RuleFinding } from '../../kinds/finding.ts'
import { isObject, type Json, type JsonObject } from '../../lib/json.ts'

/** The source kind of a pipe that was created: its rules held then. */
export function kindOf(body: JsonObject): SourceKind {
  const source = objectIn(body, 'source')
  return SOURCE_KINDS.find((kind) => source[kind] !== undefined) ?? 'kafka'
}

export function isOfDatabase(body: JsonObject): boolean {
  return isDatabase(kindOf(body))
}

/** What is under a name, or an empty object. */
export function objectIn(body: JsonObject, name: string): JsonObject {
  const value = body[name]
  return isObject(value) ? value : {}
}

/** Where a pipe comes to rest when nobody stops it (facts 6.1). */
export function settledState(body: JsonObject): 'Running' | 'Completed' {
  return pipeStates(asManifest(body)).healthy.includes('Completed') ? 'Completed' : 'Running'
}

/** The rules of facts 5 that a pipe breaks. */
export function brokenBy(body: JsonObject): readonly RuleFinding[] {
  return pipeRules(asManifest(body)).filter(({ severity }) => severity === 'error')
}

/** As a reply words it. */
export function worded({ path, message }: RuleFinding): string {
  return `${path.slice(1).join('.')}: ${message}`
}

/**
 * The first rule that a change breaks. What was broken before counts only where the change touches it: credentials are not kept, so that
 * they look as if they were missing.
 */
export function newlyBroken(
  before: JsonObject,
  after: JsonObject,
  change: JsonObject,
): RuleFinding | undefined {
  const known = new Set(brokenBy(before).map(worded))
  return brokenBy(after).find(
    (finding) => !known.has(worded(finding)) || isTouched(finding.path.slice(1), change),
  )
}

/** Whether a change has that field, or an object of `source.KIND` in which it stands. */
function isTouched(path: readonly (string | number)[], change: JsonObject): boolean {
  const depths = path.map((_name, at) => at + 1).filter((depth) => depth === path.length || depth > 2)
  return depths.some((depth) => valueAt(change, path.slice(0, depth)) !== undefined)
}

function valueAt(object: JsonObject, path: readonly (string | number)[]): Json | undefined {
  let value: Json | undefined = object
  for (const name of path) value = isObject(value) ? value[name] : undefined
  return value
}

/** Where a body has something that is empty, which the service takes for a mistake (R41). */
export function emptyPlace(value: Json | undefined, path = 'body'): string | undefined {
  if (value === '' || value === null) return path
  if (typeof value !== 'object') return undefined
  const members = Object.entries(value)
  if (members.length === 0) return path
  return members
    .map(([name, member]) => emptyPlace(member, path === 'body' ? name : `${path}.${name}`))
    .find((place) => place !== undefined)
}

function asManifest(body: JsonObject): PipeManifest {
  return { spec: body } as unknown as PipeManifest // its parts were checked; secrets are texts here
}
