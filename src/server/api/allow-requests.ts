import type { FastifyInstance } from 'fastify'
import type { Key } from '../../kinds/key.ts'
import { isObject } from '../../lib/json.ts'
import type { ServerParts } from '../parts.ts'
import { RequestError } from '../replies.ts'
import { authorize } from './reconcile-requests.ts'

/** Of `POST /-/allow`. */
export interface AllowedReply {
  readonly allowed: readonly Key[]
}

/** `POST /-/allow`: lets pass, once, what the create limit holds back now; all of it, or that of one service. */
export function registerAllow(app: FastifyInstance, parts: ServerParts): void {
  app.post('/-/allow', async ({ headers, body }): Promise<AllowedReply> => {
    const { allow } = parts
    if (allow === undefined) {
      throw new RequestError(
        404,
        'allowing creations is switched off',
        'Start Pipewright with --admin-token-file FILE (PIPEWRIGHT_ADMIN_TOKEN_FILE), and send what is in it as a bearer token.',
      )
    }
    await authorize(headers.authorization, allow)
    return { allowed: await allow.allow(serviceIn(body)) }
  })
}

/** A misspelt member must not turn "this service" into "all of them". */
function serviceIn(body: unknown): string | undefined {
  if (body === undefined || body === null) return undefined
  const { service, ...others } = isObject(body) ? body : { service: body }
  const isRight = service === undefined || (typeof service === 'string' && service !== '')
  if (isRight && Object.keys(others).length === 0) return service
  throw new RequestError(
    400,
    'the body is not understood',
    'Send {"service": "NAME"}, or nothing for all services.',
  )
}
