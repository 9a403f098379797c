import { maskText } from './mask.ts'

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
