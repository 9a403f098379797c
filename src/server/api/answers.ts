import type { FastifyReply } from 'fastify'
import type { Finding } from '../../kinds/finding.ts'
import type { Overview, ServerParts } from '../parts.ts'
import { createReplyCache, type Steps } from './reply-cache.ts'

/** Replies that are worked out once for each version of the resources and their manifests. */
export interface Answers {
  /**
   * The reply as text, or the part of it that no clock changes.
   * @param question all that it depends on, beside resources and readings
   * @throws {RequestError} 429 when too many wait
   */
  text(question: readonly unknown[], overview: Overview, work: () => Steps<string>): Promise<string>
}

export function createAnswers({ board }: Pick<ServerParts, 'board'>): Answers {
  const cache = createReplyCache()
  const numbers = new WeakMap<readonly Finding[], number>()
  let lastNumber = 0

  /** A reading has findings of its own, and may have moved lines that no resource shows. */
  function readingOf({ findings, lastLoadAt }: Overview): string {
    const number = numbers.get(findings) ?? (lastNumber += 1)
    numbers.set(findings, number)
    return `${number}/${lastLoadAt}`
  }

  return {
    text: (question, overview, work) =>
      cache.get(JSON.stringify(question), `${board.version}/${readingOf(overview)}`, work),
  }
}

/** Sends what is JSON already. */
export function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(text)
}
