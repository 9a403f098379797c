import { isObject } from '../../lib/json.ts'
import { LedgerError } from '../../contract/ledger.ts'

export class ClusterError extends Error {
  /** Undefined: no reply came, and the request might have worked. */
  readonly status: number | undefined

  constructor(message: string, status: number | undefined, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ClusterError'
    this.status = status
  }
}

export function asLedgerError(error: unknown): unknown {
  if (!(error instanceof ClusterError)) return error
  const can = error.status === undefined ? 'reached' : 'used'
  return new LedgerError('io', `the ledger cannot be ${can}: ${error.message}.`, { cause: error })
}

export function throwAsLedgerError(error: unknown): never {
  throw asLedgerError(error)
}

/** The words of RBAC. Admission, quotas and a namespace that is being deleted answer 403, too. */
const BY_RBAC = /^\S+( ".*")? is forbidden: User ".*" cannot \w+ resource "/

export function errorOfReply(status: number, said: unknown): ClusterError {
  const message =
    isObject(said) && typeof said['message'] === 'string' ? said['message'] : 'no reason is given'
  const way = status === 403 && BY_RBAC.test(message) ? '. Give the ServiceAccount this permission' : ''
  return new ClusterError(`the Kubernetes API answers ${status}: ${message}${way}`, status)
}

export function unanswered(error: unknown, proxy?: string): ClusterError {
  if (error instanceof LedgerError) return new ClusterError(error.message, undefined, { cause: error })
  const { name, message, code }: Error & { code?: unknown } =
    error instanceof Error ? error : new Error(String(error))
  // Only the host, because the URL can contain user and password.
  const through = proxy === undefined ? '' : ` through the proxy ${new URL(proxy).host} of the kubeconfig`
  const what = typeof code === 'string' ? code : message
  const why = name === 'TimeoutError' ? 'does not answer in time' : `cannot be reached (${what})`
  return new ClusterError(`the Kubernetes API ${why}${through}`, undefined, { cause: error })
}

export function notKubernetes(value: unknown): ClusterError {
  const shown = JSON.stringify(value)?.slice(0, 100) ?? ''
  return new ClusterError(
    `the reply is not from the Kubernetes API. Correct the address of the API, or let requests to it bypass the proxy. The reply: ${shown}`,
    undefined,
  )
}
