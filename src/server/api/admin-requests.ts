import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LedgerError } from '../../contract/ledger.ts'
import { MAX_PLAN_BYTES, PLAN_REQUEST, shownPlan } from '../../contract/plan.ts'
import {
  Allowance,
  type AllowedReply,
  OperatorCommand,
  type OperatorResult,
} from '../../contract/person-command.ts'
import type { Key } from '../../kinds/key.ts'
import { z } from '../../kinds/zod.ts'
import { isObject } from '../../lib/json.ts'
import type { Operator, ServerParts } from '../parts.ts'
import { withCommands } from '../../plan/step.ts'
import { parsedBody, type Query, shownView } from '../parameters.ts'
import { RequestError } from '../replies.ts'

export function registerReconcile(app: FastifyInstance, parts: ServerParts): void {
  app.post<{ Querystring: Query }>('/-/reconcile', async (request, reply) => {
    await authorize(request, parts.operator)
    const wanted = requested(request.query, request.body, parts)
    // A standby accepts requests of git-sync, which are about its own checkout.
    const isOfOwnCheckout = request.headers['gitsync-hash'] !== undefined && wanted.key === undefined
    if (!isOfOwnCheckout) assertActs(parts)
    return start(parts, wanted, reply)
  })
  app.get<{ Params: { token: string } }>('/api/v1/reconciles/:token', ({ params }) => {
    const progress = parts.operator.progress(params.token)
    if (progress !== undefined) return { token: params.token, ...progress }
    throw new RequestError(
      404,
      'no reconcile has this token',
      'The daemon forgets a reconcile after a while and at a restart. Send POST /-/reconcile again.',
    )
  })
}

interface Requested {
  readonly key: Key | undefined
  readonly accept: 'force' | 'normal'
}

function requested(query: Query, body: unknown, parts: ServerParts): Requested {
  const { key: text, accept } = parsedBody(
    MEMBERS,
    { ...(isObject(body) ? body : { key: body ?? undefined }), ...query },
    'Send {"key": "Kind/name"} for one resource, or no body for all. {"accept": true} also accepts that most manifests are gone.',
  )
  if (text === undefined) return { key: undefined, accept: accept ? 'force' : 'normal' }
  if (!accept) return { key: shownView(text, parts.board).key, accept: 'normal' }
  throw new RequestError(
    400,
    'accept is for the whole directory, and a key was given',
    'Send either key or accept.',
  )
}

/** Strict, because a misspelt `key` would mean all resources. A form or query sends `accept` as a text. */
const MEMBERS = z.strictObject({
  key: z.string().min(1).optional(),
  accept: z
    .union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')])
    .default(false),
})

function start(parts: ServerParts, { key, accept }: Requested, reply: FastifyReply) {
  const receipt = parts.operator.request(key, accept)
  if (key !== undefined && receipt.suspended.includes(key)) {
    const until = parts.board.get(key)?.suspendedUntil
    const hint = `No check started. To end the suspension, run "pipewright resume ${key}", or remove policy.suspend from its manifest.`
    throw new RequestError(
      409,
      `${key} is suspended${until === undefined ? '' : ` until ${until}`}`,
      withCommands(hint, parts.commands),
      { ...receipt },
    )
  }
  const progress = `/api/v1/reconciles/${encodeURIComponent(receipt.token)}`
  return reply
    .code(202)
    .header('location', progress)
    .send({ ...receipt, progress })
}

export function registerAllow(app: FastifyInstance, parts: ServerParts): void {
  app.post('/-/allow', async ({ headers, socket, body }): Promise<AllowedReply> => {
    await authorize({ headers, socket }, parts.operator)
    assertActs(parts)
    if (!parts.ready().ok) throw starting()
    const allowance = parsedBody(
      Allowance,
      isObject(body) ? body : { service: body ?? undefined },
      'Send no body to allow all creates. Or send {"service": "NAME", "count": 30, "dryRun": true}, or some of these. To allow deletions instead, add "deletions": true.',
    )
    const answer = await carriedOut(parts.operator.allow(allowance))
    if ('allowed' in answer) return answer
    const { blocked: count } = answer
    const error = `the limit now blocks ${count} actions, more than you confirmed, so no action was allowed`
    throw new RequestError(409, error, 'Check the blocked resources. Then send the new number as count.', {
      count,
    })
  })
}

export function registerOperate(app: FastifyInstance, parts: ServerParts): void {
  app.post('/-/operate', async (request, reply): Promise<OperatorResult> => {
    await authorize(request, parts.operator)
    assertActs(parts)
    const hint = 'Send JSON, such as {"command": "forget", "key": "Pipe/orders"} (docs/reference/api.md).'
    const result = parts.operator.operate(parsedBody(OperatorCommand, request.body, hint))
    if (result === undefined) throw starting()
    // No time limit, because the command waits for the request budget.
    reply.raw.setTimeout(0)
    const { message, ...facts } = await carriedOut(result)
    return { ...facts, message: withCommands(message, parts.commands) }
  })
}

function starting(): RequestError {
  return new RequestError(503, 'the process is starting', 'Ask again in a moment.')
}

async function carriedOut<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof LedgerError)
      throw new RequestError(500, error.message, 'Read the log for the cause. Then repeat the command.')
    if (error instanceof DOMException && error.name === 'AbortError')
      throw new RequestError(503, 'the process is stopping', 'Ask again in a moment.')
    throw error
  }
}

/** Makes one plan at a time. */
export function registerPlan(app: FastifyInstance, parts: ServerParts): void {
  let last: Promise<unknown> = Promise.resolve()
  app.post(
    '/api/v1/plan',
    {
      bodyLimit: MAX_PLAN_BYTES,
      onRequest: (request) => authorize(request, parts.operator),
    },
    (request, reply) => {
      const asked = parsedBody(
        PLAN_REQUEST,
        request.body,
        'Send JSON: {"revision": {"id": "4faf373", "from": "git"}, "manifests": "FOLDER", "files": {"a.yaml": "TEXT"}} (docs/reference/api.md). Paths are relative, and no part begins with ".".',
      )
      const gone = new AbortController()
      reply.raw.on('close', () => gone.abort(new Error('the client has gone')))
      // No time limit: the connection is idle until the plan is made.
      reply.raw.setTimeout(0)
      const plan = last.then(async () => {
        assertActs(parts)
        return shownPlan(await parts.operator.plan(asked, gone.signal), parts.commands)
      })
      last = plan.catch(() => undefined)
      return plan
    },
  )
}

/** @throws {RequestError} 409 on a standby; the reply names the leader */
function assertActs(parts: Pick<ServerParts, 'overview'>): void {
  const { standsBy, leader } = parts.overview()
  if (!standsBy) return
  const { holder, url = `kubectl port-forward pod/${holder} 8080` } = leader ?? {}
  throw new RequestError(
    409,
    `this process is on standby, and ${holder ?? 'no process'} is the leader`,
    holder === undefined ? 'Ask again in a moment.' : `Ask the leader: ${url}`,
    leader && { leader },
  )
}

/**
 * Accepts a Bearer token, or for git-sync a Basic password.
 * @throws {RequestError} 401 for a wrong token, 404 or 503 if the daemon has no admin token
 */
export async function authorize(
  { headers, socket }: Pick<FastifyRequest, 'headers' | 'socket'>,
  { adminToken, ownerToken }: Pick<Operator, 'adminToken' | 'ownerToken'>,
): Promise<void> {
  const given = tokenOf(headers.authorization)
  if (given !== undefined && socket.remoteAddress === socket.localAddress && same(given, ownerToken)) return
  if (adminToken === undefined)
    throw new RequestError(
      404,
      'the daemon has no admin token',
      'Start Pipewright with --admin-token-file FILE (PIPEWRIGHT_ADMIN_TOKEN_FILE), and send its content as a bearer token.',
    )
  // An empty file is no token, because an empty password would match it.
  const expected = (await adminToken().catch(() => undefined))?.trim()
  if (expected === undefined || expected === '')
    throw new RequestError(
      503,
      'the admin token cannot be read',
      'On the machine of the daemon, write the token to the file that --admin-token-file names. The daemon must be able to read it.',
    )
  if (given === undefined || !same(given, expected))
    throw new RequestError(
      401,
      given === undefined ? 'the admin token is missing' : 'the admin token is wrong',
      'Send "Authorization: Bearer TOKEN". TOKEN is the content of the file of --admin-token-file.',
    )
}

function tokenOf(header: string | undefined): string | undefined {
  const [, scheme, credentials] = /^(bearer|basic) +(\S+) *$/i.exec(header ?? '') ?? []
  if (scheme === undefined || credentials === undefined) return undefined
  if (scheme.toLowerCase() === 'bearer') return credentials
  const text = Buffer.from(credentials, 'base64').toString('utf8')
  return text.slice(text.indexOf(':') + 1)
}

/** Compares digests, because the time of a comparison can reveal parts of the token. */
function same(given: string, expected: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'))
}
