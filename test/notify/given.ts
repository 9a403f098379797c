import type { Problem } from '../../src/contract/view.ts'
import type { Posted, Posting } from '../../src/notify/delivery.ts'
import type { Key } from '../../src/kinds/key.ts'

export const SINCE = Date.parse('2026-06-01T12:00:00.000Z')

export function problem(id: string, over: Partial<Problem> = {}): Problem {
  const own: readonly Key[] = [`Pipe/${id}`]
  const facts = { reason: 'Drifted', severity: 'warning', service: 'analytics', state: '' } as const
  return { id, cause: `Drifted ${id}`, ...facts, keys: own, since: SINCE, ...over }
}

export function keys(count: number): readonly Key[] {
  return Array.from({ length: count }, (_, index): Key => `Pipe/p${index}`)
}

export function reply(status: number, headers: Readonly<Record<string, string>> = {}): Posted {
  return { type: 'reply', status, headers }
}

export const SILENCE: Posted = { type: 'silence', why: 'error', code: 'ECONNREFUSED', fault: undefined }

/** A receiver that answers from a list, and 204 after its end. */
export function receiver(...answers: readonly Posted[]) {
  const left = [...answers]
  const posts: Posting[] = []
  return {
    posts,
    post: async (posting: Posting): Promise<Posted> => {
      posts.push(posting)
      return left.shift() ?? reply(204)
    },
    bodies: () => posts.map(({ body }) => JSON.parse(body) as Readonly<Record<string, unknown>>),
  }
}
