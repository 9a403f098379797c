import { setImmediate, setTimeout } from 'node:timers/promises'
import { RequestError } from '../replies.ts'

/** Work that is done in pieces: it pauses wherever it yields. */
export type Steps<T> = Generator<undefined, T, undefined>

/** Questions whose replies are kept. */
const MOST_REPLIES = 32

/** Letters of all replies that are kept: a page of resources has half a million. */
const MOST_LETTERS = 16 * 1024 * 1024

/** Questions that wait to be worked on. */
const MOST_WAITING = 64

/** How long the process works on a reply before it looks after everything else, for as long: ms. */
const PIECE_MS = 2

/** Between two yields, in items of a list. */
const ITEMS_A_STEP = 100

/** Replies as text, each worked out once for each version of what it is made of. */
export interface ReplyCache {
  /**
   * @param question equal for requests with the same reply
   * @param version of all that the reply is made of
   * @throws {RequestError} 429 when too many wait
   */
  get(question: string, version: string, work: () => Steps<string>): Promise<string>
}

interface Kept {
  readonly version: string
  readonly reply: Promise<string>
  letters: number
}

/** Works on one reply at a time, in pieces: what else the process does goes on between them. */
export function createReplyCache(): ReplyCache {
  const replies = new Map<string, Kept>()
  let before: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let letters = 0

  function drop(question: string, kept: Kept): void {
    if (replies.get(question) !== kept) return
    replies.delete(question)
    letters -= kept.letters
  }

  /** The ones that were asked for longest ago. */
  function makeRoom(): void {
    for (const [question, kept] of replies) {
      if (replies.size <= MOST_REPLIES && letters <= MOST_LETTERS) return
      drop(question, kept)
    }
  }

  function enqueue(work: () => Steps<string>): Promise<string> {
    if (waiting >= MOST_WAITING)
      throw new RequestError(
        429,
        'too many questions wait for an answer',
        `At most ${MOST_WAITING} wait at a time. Ask again in a second.`,
      )
    waiting += 1
    const reply = before.then(() => inPieces(work())).finally(() => (waiting -= 1))
    before = reply.catch(() => undefined)
    return reply
  }

  return {
    async get(question, version, work) {
      const known = replies.get(question)
      if (known !== undefined) {
        replies.delete(question)
        if (known.version === version) {
          replies.set(question, known) // asked for last
          return known.reply
        }
        letters -= known.letters
      }
      const kept: Kept = { version, reply: enqueue(work), letters: 0 }
      replies.set(question, kept)
      makeRoom()
      try {
        const text = await kept.reply
        if (replies.get(question) === kept) {
          kept.letters = text.length
          letters += text.length
          makeRoom()
        }
        return text
      } catch (error) {
        drop(question, kept)
        throw error
      }
    },
  }
}

async function inPieces<T>(steps: Steps<T>): Promise<T> {
  await setImmediate()
  for (;;) {
    const end = performance.now() + PIECE_MS
    do {
      const step = steps.next()
      if (step.done) return step.value
    } while (performance.now() < end)
    await setTimeout(PIECE_MS)
  }
}

/** All at once; for a few. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** As `forEach`, in steps. */
export function* eachInSteps<T>(items: readonly T[], use: (item: T) => void): Steps<void> {
  for (const [index, item] of items.entries()) {
    if (index % ITEMS_A_STEP === 0) yield
    use(item)
  }
}

/** As `filter`, in steps. */
export function* filterInSteps<T>(items: readonly T[], test: (item: T) => boolean): Steps<readonly T[]> {
  const found: T[] = []
  yield* eachInSteps(items, (item) => {
    if (test(item)) found.push(item)
  })
  return found
}

/** As `map`, in steps. */
export function* mapInSteps<T, U>(items: readonly T[], of: (item: T) => U): Steps<readonly U[]> {
  const made: U[] = []
  yield* eachInSteps(items, (item) => {
    made.push(of(item))
  })
  return made
}
