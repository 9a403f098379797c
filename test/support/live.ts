import type { Program, Shown } from './process.ts'
import { resourcesOf } from './process.ts'
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
export interface Live {
  readonly program: Program
  readonly url: string
  resource(key: string): Promise<Shown | undefined>
  /** Waits until a resource says `reason`, or has that status. */
  says(key: string, reason: string, limitMs?: number): Promise<Shown>
  /** Oldest first. */
  history(key?: string): Promise<readonly Told[]>
  /** The value of a metric without labels; of a labelled one, `name{label="value"}`. */
  metric(sample: string): Promise<number | undefined>
  /** Makes a change in the directory, and waits until a reading has seen it. */
  reads(change: () => void): Promise<void>
  /** Ends it in good order. */
  stop(): Promise<void>
  /** Ends it as a power cut would. */
  kill(): Promise<void>
}

/** A daemon that does not answer is asked again after this: ms. */
const ANSWER_MS = 60_000

export function liveOf(program: Program, url: string): Live {
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
    async says(key, reason, limitMs = LIMIT_MS) {
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
    async history(key) {
      const query = key === undefined ? '' : `&key=${encodeURIComponent(key)}`
      const { items } = (await json(`/api/v1/history?limit=500${query}`)) as {
        readonly items: readonly Told[]
      }
      return items.toReversed()
    },
    async metric(sample) {
      const text = await (await get('/metrics')).text()
      const line = text.split('\n').find((candidate) => candidate.startsWith(`${sample} `))
      return line === undefined ? undefined : Number(line.slice(sample.length))
    },
    async reads(change) {
      const before = await revision()
      change()
      await until('the change to be read', async () => (await revision()) !== before)
    },
    async stop() {
      program.signal('SIGTERM')
      const code = await program.ended
      if (code !== 0)
        throw new Error(`the daemon ended with ${code}: ${program.stderr()}\n${program.stdout()}`)
    },
    async kill() {
      program.signal('SIGKILL')
      await program.ended
    },
  }
}
