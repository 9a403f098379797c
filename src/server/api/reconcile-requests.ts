import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Key } from '../../kinds/key.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { knownKey, oneOf, type Query } from '../parameters.ts'
import type { Guarded, ReconcileReceipt, ReconcileTrigger, ServerParts } from '../parts.ts'
import { RequestError } from '../replies.ts'
import { createHash, timingSafeEqual } from 'node:crypto'

/** Of `POST /-/reconcile`. */
export interface AcceptedReply extends ReconcileReceipt {
  /** Where to ask how far it got. */
  readonly progress: string
}

/** `POST /-/reconcile`: read and reconcile now; and the progress of it. */
export function registerReconcile(app: FastifyInstance, parts: ServerParts): void {
  app.post<{ Querystring: Query }>('/-/reconcile', async (request, reply) => {
    const trigger = switchedOn(parts.reconcile)
    await authorize(request.headers.authorization, trigger)
    const wanted = requested(request.query, request.body, parts)
    // git-sync speaks of the checkout of this process, which is read here too; it would ask again until that is taken.
    const isOfOwnCheckout = request.headers['gitsync-hash'] !== undefined && wanted.key === undefined
    if (!isOfOwnCheckout) assertActs(parts)
    return start(parts, trigger, wanted, reply)
  })
  app.get('/-/reconcile', (_request, reply) => {
    reply.header('allow', 'POST')
    throw new RequestError(
      405,
      'a reconcile is asked for with POST',
      'curl -X POST -H "Authorization: Bearer TOKEN" …',
    )
  })
  for (const path of ['/-/reconcile/:token', '/api/v1/reconciles/:token']) {
    app.get<{ Params: { token: string } }>(path, ({ params }) => {
      const progress = switchedOn(parts.reconcile).progress(params.token)
      if (progress !== undefined) return { token: params.token, ...progress }
      throw new RequestError(
        404,
        'this token is not known',
        'Tokens are forgotten some time after they are done, and by a restart.',
      )
    })
  }
}

function switchedOn(trigger: ReconcileTrigger | undefined): ReconcileTrigger {
  if (trigger !== undefined) return trigger
  throw new RequestError(
    404,
    'asking for a reconcile is switched off',
    'Start Pipewright with --admin-token-file FILE (PIPEWRIGHT_ADMIN_TOKEN_FILE), and send what is in it as a bearer token.',
  )
}

/** A process that stands by does nothing, and names the one that acts. @throws {RequestError} 409 */
export function assertActs(parts: Pick<ServerParts, 'overview'>): void {
  const { standsBy, leader } = parts.overview()
  if (!standsBy) return
  if (leader === undefined)
    throw new RequestError(409, 'this process stands by, and nobody acts', 'Ask again in a moment.', {})
  throw new RequestError(
    409,
    `this process stands by, and ${leader.holder} acts`,
    leader.url === undefined
      ? `Ask that one: kubectl port-forward pod/${leader.holder} 8080`
      : `Ask that one: ${leader.url}`,
    { leader },
  )
}

interface Requested {
  readonly key: Key | undefined
  readonly accept: 'force' | 'normal'
}

/** A machine asks for a reading, as git-sync does after each commit; only a person says that it is to be accepted. */
function requested(query: Query, body: unknown, parts: ServerParts): Requested {
  const { key: ofBody, accept } = membersOf(body)
  const text = oneOf(query, 'key') ?? ofBody
  if (text === undefined) return { key: undefined, accept: accept ? 'force' : 'normal' }
  if (!accept) return { key: knownKey(text, parts.board), accept: 'normal' }
  throw new RequestError(
    400,
    'accept is for the whole directory, and a key was given',
    'Send one or the other.',
  )
}

/** A misspelt member must not turn "this one" into "everything". */
function membersOf(body: unknown): { readonly key: string | undefined; readonly accept: boolean } {
  if (body === undefined || body === null) return { key: undefined, accept: false }
  const members = (isObject(body) ? body : { key: body }) as JsonObject // parsed from JSON, or a form
  const { key, accept = false, ...others } = members
  const isRight = key === undefined || (typeof key === 'string' && key !== '')
  const accepts = typeof accept === 'boolean' ? accept : FORM_BOOLEANS.get(accept)
  if (isRight && accepts !== undefined && Object.keys(others).length === 0) return { key, accept: accepts }
  throw new RequestError(
    400,
    'the body is not understood',
    'Send {"key": "Kind/name"}; {"accept": true}, to accept the directory as it is, even if most manifests are gone; or nothing.',
  )
}

/** In a form all is text. */
const FORM_BOOLEANS: ReadonlyMap<unknown, boolean> = new Map([
  ['true', true],
  ['false', false],
])

function start(
  parts: ServerParts,
  trigger: ReconcileTrigger,
  { key, accept }: Requested,
  reply: FastifyReply,
) {
  const receipt = trigger.request(key, accept)
  if (key !== undefined && receipt.suspended.includes(key)) {
    const until = parts.board.get(key)?.suspendedUntil
    throw new RequestError(
      409,
      `${key} is suspended${until === undefined ? '' : ` until ${until}`}`,
      'It is left alone until then; remove policy.suspend from its manifest to end that now.',
      { ...receipt },
    )
  }
  const progress = `/api/v1/reconciles/${encodeURIComponent(receipt.token)}`
  return reply
    .code(202)
    .header('location', progress)
    .send({ ...receipt, progress })
}

/**
 * Passes who shows the admin token: as a bearer token, or as the password of Basic credentials, which is all
 * that git-sync can send (`--webhook-url=http://git-sync:TOKEN@…`).
 * @throws {RequestError} 401 without the right token, 503 while there is none to compare with
 */
export async function authorize(header: string | undefined, trigger: Guarded): Promise<void> {
  const expected = await readToken(trigger)
  if (expected === undefined) {
    throw new RequestError(
      503,
      'the admin token cannot be read',
      'Check the file that --admin-token-file names: it must be there, readable and not empty.',
    )
  }
  const given = tokenOf(header)
  if (given === undefined || !same(given, expected)) {
    throw new RequestError(
      401,
      given === undefined ? 'the admin token is missing' : 'the admin token is wrong',
      'Send "Authorization: Bearer TOKEN" with the content of the file that --admin-token-file names.',
    )
  }
}

/** An empty file is no token: it would let everybody in. */
async function readToken(trigger: Guarded): Promise<string | undefined> {
  try {
    const token = (await trigger.adminToken())?.trim()
    return token === '' ? undefined : token
  } catch {
    return undefined
  }
}

function tokenOf(header: string | undefined): string | undefined {
  const [, scheme, credentials] = /^(bearer|basic) +(\S+) *$/i.exec(header ?? '') ?? []
  if (scheme === undefined || credentials === undefined) return undefined
  if (scheme.toLowerCase() === 'bearer') return credentials
  const text = Buffer.from(credentials, 'base64').toString('utf8')
  return text.slice(text.indexOf(':') + 1)
}

/** Compares digests, so that neither the time nor the length tells anything. */
function same(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
