import type { FastifyReply } from 'fastify'
import type { Finding } from '../../kinds/finding.ts'
import type { Overview, ServerParts } from '../parts.ts'

const MAX_ANSWERS = 32

/** Caches replies until resources or findings change, because all open pages send the same requests. */
export type Answers = ReturnType<typeof createAnswers>

export function createAnswers({ board }: Pick<ServerParts, 'board'>) {
  const known = new Map<string, string>()
  let version = -1
  let findings: readonly Finding[] = []
  let loadedAt: number | undefined

  return {
    /** @param question all inputs of `make` besides the resources. `make` must not use the time. */
    text(question: readonly unknown[], overview: Overview, make: () => string) {
      // A read of the manifests can change findings without a change of a resource.
      if (version !== board.version || findings !== overview.findings || loadedAt !== overview.lastLoadAt)
        known.clear()
      version = board.version
      findings = overview.findings
      loadedAt = overview.lastLoadAt
      const key = JSON.stringify(question)
      const answer = known.get(key) ?? make()
      known.delete(key)
      known.set(key, answer)
      const oldest = known.keys().next().value
      if (known.size > MAX_ANSWERS && oldest !== undefined) known.delete(oldest)
      return answer
    },
  }
}

export function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(text)
}
