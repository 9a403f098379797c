import { printable } from '../lib/shown-text.ts'
import { SENSITIVE_NAMES, withoutAssignments, withoutUrlSecrets } from '../lib/sensitive.ts'

/* A second net for foreign texts, such as parse errors. Secrets cannot print themselves. */

const SHOWN = '[secret]'

/** Unquoted `password: value`. */
const PLAIN_PAIR = new RegExp(
  String.raw`(\b(?:${SENSITIVE_NAMES.join('|')})\b\s*:\s*)(?!\[secret\])([^\s,;}&"'\\]+)`,
  'gi',
)

export function maskText(text: string): string {
  return withoutAssignments(withoutUrlSecrets(text, SHOWN), SHOWN, 'masked').replace(PLAIN_PAIR, `$1${SHOWN}`)
}

/** Top-level and one level below. */
export const REDACTED_PATHS: readonly string[] = SENSITIVE_NAMES.flatMap((name) => [name, `*.${name}`])

/** Of a message or stack: characters. */
const LONGEST = 2_000

const DEPTH = 4

interface ErrorFacts {
  readonly type: string
  readonly message: string
  readonly stack: string | undefined
  readonly code: string | undefined
  readonly cause: ErrorFacts | undefined
}

/** Other fields of client errors have requests, headers and bodies. */
export function errorFacts(error: unknown, depth = DEPTH): ErrorFacts {
  if (!(error instanceof Error)) {
    return {
      type: typeof error,
      message: shown(String(error)),
      stack: undefined,
      code: undefined,
      cause: undefined,
    }
  }
  const { code } = error as { code?: unknown } // Node's errors have it
  return {
    type: error.name,
    message: shown(error.message),
    stack: error.stack === undefined ? undefined : shown(error.stack),
    code: typeof code === 'string' ? code : undefined,
    cause: error.cause === undefined || depth === 0 ? undefined : errorFacts(error.cause, depth - 1),
  }
}

/** Masks before it cuts: no half of a secret stays. */
function shown(text: string): string {
  return printable(maskText(text.slice(0, 4 * LONGEST)).slice(0, LONGEST)).toWellFormed()
}
