import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Emit } from '../contract/events.ts'
import { LedgerError } from '../contract/ledger.ts'

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const REPLY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

export interface ErrorReply {
  readonly error: string
  readonly hint: string
}

export class RequestError extends Error {
  readonly statusCode: number
  readonly hint: string
  readonly facts: Readonly<Record<string, unknown>>

  constructor(statusCode: number, message: string, hint: string, facts: RequestError['facts'] = {}) {
    super(message)
    this.name = 'RequestError'
    this.statusCode = statusCode
    this.hint = hint
    this.facts = facts
  }
}

export function registerReplies(app: FastifyInstance, emit: Emit): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(REPLY_HEADERS)
  })
  app.setNotFoundHandler((request, reply) =>
    reply.code(404).send({
      error: `there is nothing at ${request.method} ${request.url.split('?')[0]}`,
      hint: 'Open / in a browser, or use /api/v1/resources, /api/v1/history or /api/v1/overview.',
    } satisfies ErrorReply),
  )
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof RequestError && error.statusCode === 401) {
      reply.header('www-authenticate', 'Bearer realm="pipewright"')
    }
    // The ledger has reported its own errors.
    if (error instanceof Error && errorReply(error)[0] === 500 && !(error instanceof LedgerError))
      emit({
        type: 'Bug',
        message: `${request.method} ${request.routeOptions.url} could not be answered`,
        error,
      })
    sendError(error, reply)
  })
}

export function sendError(error: unknown, reply: FastifyReply): void {
  const [status, { hint, ...body }] = errorReply(error)
  const limit = status === 413 ? ` The body has at most ${reply.request.routeOptions.bodyLimit} bytes.` : ''
  void reply
    .code(status)
    .headers(REPLY_HEADERS)
    .send({ ...body, hint: `${hint}${limit}` })
}

function errorReply(error: unknown): readonly [status: number, body: ErrorReply] {
  if (error instanceof RequestError) {
    return [error.statusCode, { error: error.message, hint: error.hint, ...error.facts }]
  }
  const status = clientStatus(error)
  if (status !== undefined) {
    const what = error instanceof Error ? error.message : 'the request is not understood'
    return [status, { error: what, hint: 'Compare the request with docs/reference/api.md.' }]
  }
  const hint = 'It is an internal error, or the ledger cannot be read. Look at /readyz, then at the log.'
  return [500, { error: 'the request could not be answered', hint }]
}

/** The status of Fastify's error about a wrong request. Undefined: an internal error. */
function clientStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined
  const { statusCode } = error
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500 ? statusCode : undefined
}
