import { printable } from '../lib/shown-text.ts'
import { SENSITIVE_NAMES, withoutAssignments, withoutUrlSecrets } from '../lib/sensitive.ts'

/*
 * The second net of law 6. Secrets have a type that cannot print itself, and nothing that is emitted should
 * hold one; this catches what came in by a text of somebody else, such as the message of a parse error.
 */

const SHOWN = '[secret]'

/** `password: value` without any quotes, which in a log is no sentence. */
const PLAIN_PAIR = new RegExp(
  String.raw`(\b(?:${SENSITIVE_NAMES.join('|')})\b\s*:\s*)(?!\[secret\])([^\s,;}&"'\\]+)`,
  'gi',
)

/** The text with everything that looks like a credential replaced. */
export function maskText(text: string): string {
  return withoutAssignments(withoutUrlSecrets(text, SHOWN), SHOWN, 'masked').replace(PLAIN_PAIR, `$1${SHOWN}`)
}

/** Names that never show their value, at the top of a line and one level below it. */
export const REDACTED_PATHS: readonly string[] = SENSITIVE_NAMES.flatMap((name) => [name, `*.${name}`])

/** Of a message or a stack: characters. */
const LONGEST = 2_000

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
      message: shown(String(error)),
      stack: undefined,
      code: undefined,
      cause: undefined,
    }
  }
  const { code } = error as { code?: unknown } // errors of Node carry one
  return {
    type: error.name,
    message: shown(error.message),
    stack: error.stack === undefined ? undefined : shown(error.stack),
    code: typeof code === 'string' ? code : undefined,
    cause: error.cause === undefined || depth === 0 ? undefined : errorFacts(error.cause, depth - 1),
  }
}

/** As much is masked as half a secret takes to be cut off, and then less is shown. */
function shown(text: string): string {
  return printable(maskText(text.slice(0, 4 * LONGEST)).slice(0, LONGEST)).toWellFormed()
}
