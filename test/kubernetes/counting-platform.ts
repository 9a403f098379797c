import { type CreateFate, startFront } from '../support/front.ts'
import { startPlatform } from '../support/platform.ts'

/** The sandbox for several processes: it creates a pipe for each request, as often as it is asked, and counts. */
export interface CountingPlatform extends AsyncDisposable {
  readonly url: string
  /** Name → ids of the pipes of that name. */
  readonly pipes: ReadonlyMap<string, readonly string[]>
  /** How many creates arrived. */
  readonly creates: () => number
}

export async function startCountingPlatform(fateOf: (name: string) => CreateFate): Promise<CountingPlatform> {
  const platform = await startFront(await startPlatform(), { fateOf })
  return {
    url: platform.url,
    get pipes() {
      const byName = Map.groupBy(platform.pipes(), ({ name }) => name)
      return new Map([...byName].map(([name, pipes]) => [name, pipes.map(({ id }) => id)]))
    },
    creates: () => platform.creates.length,
    [Symbol.asyncDispose]: () => platform[Symbol.asyncDispose](),
  }
}
