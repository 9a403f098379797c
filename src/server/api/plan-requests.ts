import type { FastifyInstance } from 'fastify'
import { MAX_PLAN_BYTES, PLAN_REQUEST } from '../../contract/plan.ts'
import type { Planner, ServerParts } from '../parts.ts'
import { RequestError } from '../replies.ts'
import { assertActs, authorize } from './reconcile-requests.ts'

const BUSY_S = 10

/** `POST /api/v1/plan`: what would happen if the sent manifests were those of the directory. One plan at a time. */
export function registerPlan(app: FastifyInstance, parts: ServerParts): void {
  let isBusy = false
  app.post(
    '/api/v1/plan',
    {
      bodyLimit: MAX_PLAN_BYTES,
      // Before the body is read.
      onRequest: ({ headers }) => authorize(headers.authorization, plannerOf(parts)),
    },
    async (request, reply) => {
      assertActs(parts)
      const asked = PLAN_REQUEST.safeParse(request.body)
      if (!asked.success)
        throw new RequestError(
          400,
          'the body is not understood',
          'Send JSON: {"revision": {"id", "from"}, "manifests", "files": {"a.yaml": "its text"}}. A path is relative and has no hidden parts.',
        )
      if (isBusy) {
        reply.header('retry-after', BUSY_S)
        throw new RequestError(429, 'another plan is being made', 'Ask again when it is done.')
      }
      const gone = new AbortController()
      reply.raw.on('close', () => gone.abort(new Error('the client has gone')))
      isBusy = true
      try {
        const answer = await plannerOf(parts).plan(asked.data, gone.signal)
        if (answer.is === 'plan') return answer.plan
        throw new RequestError(
          503,
          answer.why,
          'Ask again; with many resources, a plan takes as long as the request budget lets it.',
        )
      } finally {
        isBusy = false
      }
    },
  )
}

function plannerOf({ planner }: ServerParts): Planner {
  if (planner !== undefined) return planner
  throw new RequestError(
    404,
    'planning is switched off',
    'Start Pipewright with --admin-token-file FILE (PIPEWRIGHT_ADMIN_TOKEN_FILE), and send what is in it as a bearer token.',
  )
}
