import type { Sandbox } from '../../../src/sandbox/sandbox-server.ts'
import type { RecordedRequest } from '../../../src/sandbox/stored.ts'

/** So long a pipe is still there after it was asked to go: ms. */
export const DELETING_MS = 300

/** A pipe that was there at some time. */
export interface SeenPipe {
  readonly id: string
  readonly name: string
  /** As it was created. */
  readonly topic: string
  readonly createdAt: number
  /** ms since the epoch; undefined: it is there. */
  goneAt: number | undefined
}

export interface SeenPipes extends Disposable {
  readonly all: ReadonlyMap<string, SeenPipe>
}

/** Looks again and again: replies to creates are not on record, and no pipe is there for a shorter time. */
export function watchPipes(platform: Sandbox): SeenPipes {
  const all = new Map<string, SeenPipe>()
  const look = () => {
    const there = new Set<string>()
    for (const { id, name, createdAt, ...body } of platform.pipes()) {
      there.add(id)
      if (!all.has(id))
        all.set(id, { id, name, topic: topicIn(body), createdAt: Date.parse(createdAt), goneAt: undefined })
    }
    for (const pipe of all.values()) if (!there.has(pipe.id)) pipe.goneAt ??= Date.now()
  }
  const timer = setInterval(look, 40)
  return {
    get all() {
      look()
      return all
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

/** The topic in the body of a create or in a reading. */
export function topicIn(body: object): string {
  const { source } = body as { source?: { kafka?: { topics?: string } } } // all pipes here are of Kafka
  return source?.kafka?.topics ?? ''
}

export interface Deletion {
  readonly at: number
  readonly seq: number
  readonly id: string
}

/** Requests to delete something that was there: one that is sent for its answer alone finds nothing. */
export function deletionsIn(requests: readonly RecordedRequest[]): readonly Deletion[] {
  return requests.flatMap(({ operation, at, seq, path, answer }) =>
    operation === 'deletePipe' && answer?.status !== 404
      ? [{ at, seq, id: path.split('/').at(-1) ?? '' }]
      : [],
  )
}
