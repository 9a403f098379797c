import { pipeRules } from '../../kinds/profiles/clickhouse-cloud/pipe/rules.ts'
import type { PipeManifest } from '../../kinds/profiles/clickhouse-cloud/pipe/schema.ts'
import {
  isDatabase,
  SOURCE_KINDS,
  type SourceKind,
} from '../../kinds/profiles/clickhouse-cloud/pipe/source.ts'
import { pipeStates } from '../../kinds/profiles/clickhouse-cloud/pipe/states.ts'
import type { RuleFinding } from '../../kinds/finding.ts'
import { isObject, type Json, type JsonObject, valueAt } from '../../lib/json.ts'

export function kindOf(body: JsonObject): SourceKind {
  const source = objectIn(body, 'source')
  return SOURCE_KINDS.find((kind) => source[kind] !== undefined) ?? 'kafka'
}

export function isOfDatabase(body: JsonObject): boolean {
  return isDatabase(kindOf(body))
}

export function objectIn(body: JsonObject, name: string): JsonObject {
  const value = body[name]
  return isObject(value) ? value : {}
}

/** Of a pipe that is never stopped (facts 6.1). */
export function settledState(body: JsonObject): 'Running' | 'Completed' {
  return pipeStates(asManifest(body)).healthy.includes('Completed') ? 'Completed' : 'Running'
}

/** Violated rules of facts 5. */
export function brokenBy(body: JsonObject): readonly RuleFinding[] {
  return pipeRules(asManifest(body)).filter(({ severity }) => severity === 'error')
}

export function worded({ path, message }: RuleFinding): string {
  return `${path.slice(1).join('.')}: ${message}`
}

/** Earlier violations count only in changed fields: credentials are not kept. */
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

/** Whether a change has the field, or an object of `source.KIND` around it. */
function isTouched(path: readonly (string | number)[], change: JsonObject): boolean {
  const depths = path.map((_name, at) => at + 1).filter((depth) => depth === path.length || depth > 2)
  return depths.some((depth) => valueAt(change, path.slice(0, depth).join('.')) !== undefined)
}

/** The service rejects empty values (R41). */
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
  return { spec: body } as unknown as PipeManifest // checked in parts; secrets are texts here
}
