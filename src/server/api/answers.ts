import type { FastifyReply } from 'fastify'
import type { Finding } from '../../kinds/finding.ts'
import type { Overview, ServerParts } from '../parts.ts'

const MAX_ANSWERS = 32

/** JSON replies, made once for each version of the resources and their manifests: all open pages ask for the same. */
export interface Answers {
  /**
   * The reply as text, or the part of it that no clock changes.
   * @param question everything else that the reply depends on
   */
  text(question: readonly unknown[], overview: Overview, make: () => string): string
}

export function createAnswers({ board }: Pick<ServerParts, 'board'>): Answers {
  const known = new Map<string, string>()
  let version = -1
  let findings: readonly Finding[] = []
  let loadedAt: number | undefined

  return {
    text(question, overview, make) {
      // A reading has a new list of findings, and can move lines that no resource shows.
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

/** Sends what is JSON already. */
export function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(text)
}
