import type { z } from 'zod'
import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import type { CreateOnceKind } from './definition.ts'
import type { RuleCode } from './finding.ts'
import { asSecretRef } from './secret-ref.ts'
import { inputName, ownWords, typeName } from './type-words.ts'

/** What a manifest cannot have. */
export interface LeftOut {
  /** From the root of the manifest: `spec.scaling.replicas`. */
  readonly path: string
  /** A sentence. It never holds a value: that may be a secret. */
  readonly why: string
}

type Path = readonly (string | number)[]

/** A field that has to go, or that is missing, so that nothing helps. */
interface Objection {
  readonly path: Path
  readonly why: string
}

/** A manifest of which the kind accepts everything; `undefined` when something is missing that it must have. */
export interface Fitted {
  readonly manifest: JsonObject | undefined
  readonly leftOut: readonly LeftOut[]
}

/** Takes out of a manifest what its kind does not accept: by shape, then by the rules. */
export function fitted(kind: CreateOnceKind, manifest: JsonObject): Fitted {
  const leftOut: LeftOut[] = []
  let rest = manifest
  for (;;) {
    const objections = objectionsTo(kind, rest)
    if (objections.length === 0) return { manifest: rest, leftOut }
    for (const objection of objections) {
      const { path, why } = asField(objection)
      const value = valueAt(rest, path)
      // A reference stands for what may be there: that it cannot be there is nothing that a person has to know.
      if (!isOnlyReferences(value)) leftOut.push({ path: path.join('.'), why })
      if (path.length <= OURS || value === undefined) return { manifest: undefined, leftOut }
      rest = without(rest, path)
    }
  }
}

/** Whether a value is a reference to a secret, or holds nothing else. */
export function isOnlyReferences(value: Json | undefined): boolean {
  if (asSecretRef(value) !== undefined) return true
  if (value === undefined || !isObject(value)) return false
  const inner = Object.values(value)
  return inner.length > 0 && inner.every(isOnlyReferences)
}

/** Steps to what is ours and not the platform's: `spec`. */
const OURS = 1

/** All about the shape, each field once; of the rules the first, because what is left out may settle the others. */
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

/** Where mappings and columns contradict each other, the mappings stay: they say all that is needed of the columns. */
const INSTEAD: Partial<Readonly<Record<RuleCode, Path>>> = {
  'mapping-missing-column': ['spec', 'destination', 'columns'],
  'mapping-unknown-column': ['spec', 'destination', 'columns'],
}

/** A list goes as a whole: a part of it would be another list, and differ from that of the platform. */
function asField({ path, why }: Objection): Objection {
  const item = path.findIndex((step) => typeof step === 'number')
  return { path: item === -1 ? path : path.slice(0, item), why }
}

function shapeObjection(issue: z.core.$ZodIssue, manifest: JsonObject): Objection {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  return { path, why: `${subjectOf(path)} ${wordsOf(issue, valueAt(manifest, path))}.` }
}

/** `It`, or which item of the list at whose place it is said. */
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
    return 'is nothing that a manifest can have here'
  const bound = issue.code === 'too_small' ? `least ${issue.minimum}` : `most ${issue.maximum}`
  return `must be at ${bound}${issue.origin === 'string' ? ' characters long' : ''}`
}

function valueAt(manifest: JsonObject, path: Path): Json | undefined {
  let value: Json | undefined = manifest
  for (const step of path) {
    if (Array.isArray(value)) value = value[Number(step)] as Json | undefined
    else if (isObject(value) && Object.hasOwn(value, step)) value = value[step]
    else return undefined
  }
  return value
}

/** What holds nothing but a reference goes with it. @param path of a field that is there, through objects only */
function without(object: JsonObject, [name = '', ...rest]: Path): JsonObject {
  const value = object[name]
  if (rest.length > 0 && isObject(value)) {
    const inner = without(value, rest)
    if (Object.keys(inner).length > 0 || !isOnlyReferences(value)) return { ...object, [name]: inner }
  }
  return Object.fromEntries(Object.entries(object).filter(([other]) => other !== name))
}
