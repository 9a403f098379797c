import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Key } from '../../kinds/key.ts'
import { z } from '../../kinds/zod.ts'
import { isObject } from '../../lib/json.ts'
import { shownKey, parsedBody, type Query } from '../parameters.ts'
import type { ReconcileReceipt, ServerParts } from '../parts.ts'
import { RequestError } from '../replies.ts'
import { assertActs, authorize } from './admin-requests.ts'

export interface AcceptedReply extends ReconcileReceipt {
  readonly progress: string
}

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
  if (!accept) return { key: shownKey(text, parts.board), accept: 'normal' }
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
    throw new RequestError(
      409,
      `${key} is suspended${until === undefined ? '' : ` until ${until}`}`,
      `No check started. To end the suspension, run "pipewright resume ${key}", or remove policy.suspend from its manifest.`,
      { ...receipt },
    )
  }
  const progress = `/api/v1/reconciles/${encodeURIComponent(receipt.token)}`
  return reply
    .code(202)
    .header('location', progress)
    .send({ ...receipt, progress })
}
