import { errors } from 'undici'
import { isObject } from '../../lib/json.ts'
import { LedgerError } from '../../contract/ledger.ts'

/** The API did not do what it was asked. */
export class ClusterError extends Error {
  /** Undefined: no answer came, and nobody knows whether it was done. */
  readonly status: number | undefined

  constructor(message: string, status: number | undefined, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ClusterError'
    this.status = status
  }
}

/** As whoever works with a ledger knows it. */
export function asLedgerError(error: unknown): unknown {
  if (!(error instanceof ClusterError)) return error
  return new LedgerError('io', `the ledger cannot be reached: ${error.message}.`, { cause: error })
}

export function refused(status: number, said: unknown): ClusterError {
  const message =
    isObject(said) && typeof said['message'] === 'string' ? said['message'] : 'no reason is given'
  return new ClusterError(`the Kubernetes API answers ${status}: ${message}`, status)
}

/** Nobody knows what became of a request; or there was nothing to ask it with. */
export function unanswered(error: unknown): ClusterError {
  if (error instanceof LedgerError) return new ClusterError(error.message, undefined, { cause: error })
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) }
  const isLate = name === 'TimeoutError' || error instanceof errors.HeadersTimeoutError
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : message
  const why = isLate ? 'does not answer in time' : `cannot be reached (${code})`
  return new ClusterError(`the Kubernetes API ${why}`, undefined, { cause: error })
}

export function notKubernetes(value: unknown): ClusterError {
  const shown = JSON.stringify(value)?.slice(0, 100) ?? ''
  return new ClusterError(
    `what answers is not the Kubernetes API, or passes something else on: ${shown}`,
    undefined,
  )
}
