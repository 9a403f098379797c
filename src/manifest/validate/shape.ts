import type { z } from 'zod'
import type { Profile } from '../../kinds/profile.ts'
import { isObject } from '../../lib/json.ts'
import type { Path, Statement } from '../diagnostics/diagnostic.ts'

/** What is wrong with the shape of a document, and where. `at` says what to mark. */
export interface ShapeFinding {
  readonly at: 'value' | 'field'
  readonly path: Path
  readonly statement: Statement
  /** Fields that are there under a wrong name or in a wrong form: that they are missing is not said as well. */
  readonly stands?: readonly Path[]
}

/** What a shape is held against. */
export interface Context {
  readonly profile: Profile
  readonly schema: z.ZodType
  /** The document as it is; looked at, never shown where it may hold a secret. */
  readonly input: unknown
  /** More findings than these are not put into words, in all and of each sort. */
  readonly most: { readonly all: number; readonly ofRule: number }
}

export function valueFinding(
  path: Path,
  code: Statement['code'],
  message: string,
  hint: string,
): ShapeFinding {
  return { at: 'value', path, statement: { severity: 'error', code, message, hint } }
}

/** What stands at a path. */
export function valueAt(input: unknown, path: Path): unknown {
  let value = input
  for (const step of path) {
    if (Array.isArray(value)) value = value[Number(step)]
    else if (isObject(value) && Object.hasOwn(value, step)) value = value[step]
    else return undefined
  }
  return value
}
