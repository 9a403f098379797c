import type { FastifyInstance } from 'fastify'
import type { Key } from '../../kinds/key.ts'
import { isObject } from '../../lib/json.ts'
import type { Allowance } from '../../contract/allowance.ts'
import type { ServerParts } from '../parts.ts'
import { RequestError } from '../replies.ts'
import { assertActs, authorize } from './reconcile-requests.ts'

/** Of `POST /-/allow`. */
export interface AllowedReply {
  /** What passes; in a dry run, what would. */
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
    assertActs(parts)
    const answer = await allow.allow(allowanceIn(body))
    if (answer.is === 'allowed') return { allowed: answer.allowed }
    throw new RequestError(
      409,
      `the limit blocks ${answer.count} now, and nothing was allowed`,
      'Look at them, and ask again.',
      { count: answer.count },
    )
  })
}

/** A misspelt member must not turn "this service" into "all of them". */
function allowanceIn(body: unknown): Allowance {
  const members: Readonly<Record<string, unknown>> =
    body === undefined || body === null ? {} : isObject(body) ? body : { service: body }
  const { service, count, dryRun = false, deletions = false, ...others } = members
  const isKnown = typeof dryRun === 'boolean' && typeof deletions === 'boolean'
  if (isName(service) && isCount(count) && isKnown && Object.keys(others).length === 0)
    return { what: deletions ? 'deletions' : undefined, service, count, mode: dryRun ? 'dry-run' : 'write' }
  throw new RequestError(
    400,
    'the body is not understood',
    'Send {"service": "NAME", "count": 30, "dryRun": true} with any of the three, or nothing to let all pass; with "deletions": true it is about deletions.',
  )
}

function isCount(value: unknown): value is number | undefined {
  return value === undefined || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0)
}

function isName(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && value !== '')
}
