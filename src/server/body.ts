import type { FastifyInstance } from 'fastify'
import { Problem } from './problem.ts'

/** Bodies as people and webhooks send them: none, JSON, or the form that `curl -d key=…` makes. */
export function registerBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
    try {
      done(null, parseBody(String(body), request.headers['content-type'] ?? ''))
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
    }
  })
}

function parseBody(text: string, contentType: string): unknown {
  if (text.trim() === '') return undefined
  if (contentType.startsWith('application/x-www-form-urlencoded')) {
    return Object.fromEntries(new URLSearchParams(text))
  }
  try {
    return JSON.parse(text)
  } catch {
    throw new Problem(400, 'the body is not JSON', 'Send {"key": "Kind/name"}, or nothing for all resources.')
  }
}
