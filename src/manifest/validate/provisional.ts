import type { z } from 'zod'
import { isObject } from '../../lib/json.ts'
import type { Path } from '../diagnostics/diagnostic.ts'

/** What is left of a document without the fields that are wrong. */
export interface Provisional<T> {
  readonly value: T
  /** Whether a rule about this path may be broken by nothing but a field that was left out. */
  isTouched(path: Path): boolean
}

/**
 * A document without its wrong fields, when that is a valid one: so that what else is wrong is said in the same round. It is looked at,
 * and never used.
 */
export function provisionalOf<T>(
  schema: z.ZodType<T>,
  input: unknown,
  issues: readonly z.core.$ZodIssue[],
): Provisional<T> | undefined {
  const wrong = issues.flatMap(pathsOf)
  if (wrong.length === 0 || wrong.some((path) => path.length === 0)) return undefined
  const copy = structuredClone(input)
  for (const path of wrong) if (!removeAt(copy, path)) return undefined
  const result = schema.safeParse(copy)
  if (!result.success) return undefined
  const parents = wrong.map((path) => path.slice(0, -1))
  return {
    value: result.data,
    isTouched: (path) => parents.some((parent) => parent.every((step, index) => path[index] === step)),
  }
}

function pathsOf(issue: z.core.$ZodIssue): readonly Path[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...path, key]) : [path]
}

/** @returns false where it is an item of a list: those after it would move up */
function removeAt(value: unknown, path: Path): boolean {
  let at = value
  for (const step of path.slice(0, -1)) {
    if (Array.isArray(at)) at = at[Number(step)]
    else if (isObject(at) && Object.hasOwn(at, step)) at = (at as Record<string, unknown>)[step]
    else return false
  }
  if (!isObject(at) || Array.isArray(at)) return false
  return Reflect.deleteProperty(at, String(path.at(-1)))
}
