import { SENSITIVE_NAMES } from '../kinds/mask.ts'

/*
 * The second net of law 6. Secrets have a type that cannot print itself, and nothing that is emitted should
 * hold one; this catches what came in by a text of somebody else, such as the message of a parse error.
 */

const SHOWN = '[secret]'

/** `Basic …` and `Bearer …`, as in an `Authorization` header. */
const CREDENTIALS = /\b(Basic|Bearer)\s+[\w.~+/=-]{8,}/gi

/** `"password": "…"` and its like, in JSON, YAML or `name=value`. */
const ASSIGNMENT = new RegExp(
  String.raw`(["']?\b(?:${SENSITIVE_NAMES.join('|')})\b["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;}&"']+)`,
  'gi',
)

/** `user:password@` in a URL. */
const USER_INFO = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@:]+:[^\s/@]+@/gi

/** The text with everything that looks like a credential replaced. */
export function maskText(text: string): string {
  return text
    .replace(CREDENTIALS, `$1 ${SHOWN}`)
    .replace(ASSIGNMENT, `$1${SHOWN}`)
    .replace(USER_INFO, `$1${SHOWN}@`)
}

/** Names that never show their value, at the top of a line and one level below it. */
export const REDACTED_PATHS: readonly string[] = SENSITIVE_NAMES.flatMap((name) => [name, `*.${name}`])

/** How many causes are followed. */
const DEPTH = 4

export interface ErrorFacts {
  readonly type: string
  readonly message: string
  readonly stack: string | undefined
  readonly code: string | undefined
  readonly cause: ErrorFacts | undefined
}

/**
 * What a log may tell of an error. Only these facts: errors of clients carry requests, headers and bodies in
 * fields of their own, which is where a credential would get out.
 */
export function errorFacts(error: unknown, depth = DEPTH): ErrorFacts {
  if (!(error instanceof Error)) {
    return {
      type: typeof error,
      message: maskText(String(error)),
      stack: undefined,
      code: undefined,
      cause: undefined,
    }
  }
  const { code } = error as { code?: unknown } // errors of Node carry one
  return {
    type: error.name,
    message: maskText(error.message),
    stack: error.stack === undefined ? undefined : maskText(error.stack),
    code: typeof code === 'string' ? code : undefined,
    cause: error.cause === undefined || depth === 0 ? undefined : errorFacts(error.cause, depth - 1),
  }
}
