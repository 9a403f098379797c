import type { z } from 'zod'
import { isObject, valueAt, type Json, type JsonObject } from '../lib/json.ts'
import type { CreateOnceKind } from './definition.ts'
import type { Path, Statement } from './finding.ts'
import { asSecretRef } from './secret-ref.ts'

/** A field of an imported resource that its manifest cannot have. */
export interface LeftOut {
  readonly path: string
  /** A sentence without the value, which might be secret. */
  readonly why: string
  /** True if Pipewright does not know the field. A resource created from the manifest would lack it. */
  readonly isUnknown?: true
}

interface Objection {
  readonly path: Path
  readonly why: string
}

/** The manifest that the kind accepts, or undefined if a required field is missing. */
export interface Fitted {
  readonly manifest: JsonObject | undefined
  readonly leftOut: readonly LeftOut[]
}

export function fitted(kind: CreateOnceKind, manifest: JsonObject): Fitted {
  const leftOut: LeftOut[] = []
  let rest = manifest
  for (;;) {
    const objections = objectionsTo(kind, rest)
    if (objections.length === 0) return { manifest: rest, leftOut }
    for (const objection of objections) {
      const { path, why } = asField(objection)
      const value = valueAt(rest, path)
      // The import added these references itself, so their removal needs no message.
      if (!isOnlyReferences(value)) leftOut.push({ path: path.join('.'), why })
      // Pipewright itself wrote the field into the manifest, such as `policy.adopt`.
      const isOurs = path[0] !== 'spec' || path.length === 1
      if (isOurs || value === undefined) return { manifest: undefined, leftOut }
      rest = without(rest, path)
    }
  }
}

export function isOnlyReferences(value: Json | undefined): boolean {
  if (asSecretRef(value) !== undefined) return true
  if (value === undefined || !isObject(value)) return false
  const inner = Object.values(value)
  return inner.length > 0 && inner.every(isOnlyReferences)
}

/**
 * The first schema error of each field. Without schema errors, only the first broken rule, because the removal
 * of its field might also satisfy other rules.
 */
function objectionsTo(kind: CreateOnceKind, manifest: JsonObject): readonly Objection[] {
  const { data, error } = kind.schema.safeParse(manifest)
  if (error !== undefined) {
    const objections = error.issues.map((issue) => shapeObjection(issue, manifest))
    return [...Map.groupBy(objections, (objection) => asField(objection).path.join('.')).values()].flatMap(
      ([first]) => first ?? [],
    )
  }
  const broken = kind.rules(data).find(({ severity }) => severity === 'error')
  return broken === undefined ? [] : [{ path: INSTEAD[broken.code] ?? broken.path, why: broken.message }]
}

/** If mappings and columns contradict each other, the columns are removed. */
const INSTEAD: Partial<Readonly<Record<Statement['code'], Path>>> = {
  'mapping-missing-column': ['spec', 'destination', 'columns'],
  'mapping-unknown-column': ['spec', 'destination', 'columns'],
}

/** Removes the whole list instead of an item, because a shorter list would be drift. */
function asField({ path, why }: Objection): Objection {
  const item = path.findIndex((step) => typeof step === 'number')
  return { path: item === -1 ? path : path.slice(0, item), why }
}

function shapeObjection(issue: z.core.$ZodIssue, manifest: JsonObject): Objection {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  return { path, why: `${subjectOf(path)} ${wordsOf(issue, valueAt(manifest, path))}.` }
}

function subjectOf(path: Path): string {
  const at = path.findIndex((step) => typeof step === 'number')
  if (at === -1) return 'It'
  const item = `item ${Number(path[at]) + 1}`
  const field = path.slice(at + 1).join('.')
  return field === '' ? `I${item.slice(1)}` : `"${field}" of ${item}`
}

function wordsOf(issue: z.core.$ZodIssue, value: Json | undefined): string {
  if (value === undefined) return 'is missing'
  if (value === '') return 'is empty'
  const own = ownWords(issue.message)
  if (own !== undefined) return own
  if (issue.code === 'invalid_type') return `must be ${typeName(issue.expected)}, and is ${inputName(value)}`
  if (issue.code !== 'too_small' && issue.code !== 'too_big')
    return 'has a value that a manifest cannot have here'
  const bound = issue.code === 'too_small' ? `least ${issue.minimum}` : `most ${issue.maximum}`
  return `must be at ${bound}${issue.origin === 'string' ? ' characters long' : ''}`
}

/**
 * Removes a field. If it is a secret reference and the only field of its parent, also removes the parent.
 * @param path of an existing field outside lists
 */
function without(object: JsonObject, [name = '', ...rest]: Path): JsonObject {
  const value = object[name]
  if (rest.length > 0 && isObject(value)) {
    const inner = without(value, rest)
    if (Object.keys(inner).length > 0 || !isOnlyReferences(value)) return { ...object, [name]: inner }
  }
  return Object.fromEntries(Object.entries(object).filter(([other]) => other !== name))
}

/* Values are never shown, because they might be secret. */

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a mapping',
  record: 'a mapping',
  array: 'a list',
}

export function typeName(expected: string): string {
  return TYPES[expected] ?? expected
}

export function inputName(input: unknown): string {
  if (input === null) return 'empty'
  if (Array.isArray(input)) return 'a list'
  if (typeof input === 'number' && !Number.isFinite(input)) return 'infinite, or NaN'
  if (typeof input === 'number') return Number.isSafeInteger(input) ? 'a whole number' : 'a number'
  if (typeof input === 'boolean') return 'true or false'
  return typeof input === 'string' ? 'text' : 'a mapping'
}

/** Returns only messages that Pipewright wrote: these begin with "must". Messages of zod are for programmers. */
export function ownWords(message: string): string | undefined {
  return message.startsWith('must ') ? message : undefined
}
