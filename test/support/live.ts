import { type Program, resourcesOf, type Shown } from './process.ts'
import { LIMIT_MS, until } from './until.ts'

/** One line of history, as the API gives it. */
export interface Told {
  readonly type: 'action' | 'condition'
  readonly key: string
  readonly action?: string
  readonly condition?: string
  readonly reason: string
  readonly result?: string
  readonly intentId?: string
  readonly message: string
}

/** A daemon that listens, looked at from outside. */
export type Live = ReturnType<typeof liveOf>

/** A daemon that does not answer is asked again after this: ms. */
const ANSWER_MS = 60_000

export function liveOf(program: Program, url: string) {
  const get = (path: string) => fetch(`${url}${path}`, { signal: AbortSignal.timeout(ANSWER_MS) })
  const json = async (path: string): Promise<unknown> => (await get(path)).json()
  const resource = async (key: string) => (await resourcesOf(url)).find((shown) => shown.key === key)
  const revision = async () => {
    const { revision: read } = (await json('/api/v1/overview')) as {
      readonly revision?: { readonly id: string }
    }
    return read?.id
  }
  return {
    program,
    url,
    resource,
    /** Waits until a resource says `reason`, or has that status. */
    async says(key: string, reason: string, limitMs: number = LIMIT_MS) {
      let last: Shown | undefined
      try {
        return await until(
          `${key} to say ${reason}`,
          async () => {
            last = await resource(key)
            return last?.reason === reason || last?.status === reason ? last : undefined
          },
          limitMs,
        )
      } catch (error) {
        const seen = `${key} never said ${reason}, but: ${JSON.stringify(last)}`
        throw new Error(`${seen}\n${program.stderr()}`, { cause: error })
      }
    },
    /** Oldest first. */
    async history(key?: string) {
      const query = key === undefined ? '' : `&key=${encodeURIComponent(key)}`
      const { items } = (await json(`/api/v1/history?limit=500${query}`)) as {
        readonly items: readonly Told[]
      }
      return items.toReversed()
    },
    /** The value of a metric without labels; of a labelled one, `name{label="value"}`. */
    async metric(sample: string) {
      const text = await (await get('/metrics')).text()
      const line = text.split('\n').find((candidate) => candidate.startsWith(`${sample} `))
      return line === undefined ? undefined : Number(line.slice(sample.length))
    },
    /** Makes a change in the directory, and waits until a reading has seen it. */
    async reads(change: () => void) {
      const before = await revision()
      change()
      await until('the change to be read', async () => (await revision()) !== before)
    },
    /** Ends it in good order. */
    async stop() {
      program.signal('SIGTERM')
      const code = await program.ended
      if (code !== 0)
        throw new Error(`the daemon ended with ${code}: ${program.stderr()}\n${program.stdout()}`)
    },
    /** Ends it as a power cut would. */
    async kill() {
      program.signal('SIGKILL')
      await program.ended
    },
  }
}
