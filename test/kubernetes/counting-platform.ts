import { type CreateFate, startFront } from '../support/front.ts'
import { startPlatform } from '../support/platform.ts'

/** The sandbox for several processes: it creates a pipe for each request, as often as it is asked, and counts. */
export type CountingPlatform = Awaited<ReturnType<typeof startCountingPlatform>>

export async function startCountingPlatform(fateOf: (name: string) => CreateFate) {
  const platform = await startFront(await startPlatform(), { fateOf })
  return {
    url: platform.url,
    /** Name → ids of the pipes of that name. */
    get pipes() {
      const byName = Map.groupBy(platform.pipes(), ({ name }) => name)
      return new Map([...byName].map(([name, pipes]) => [name, pipes.map(({ id }) => id)]))
    },
    /** How many creates arrived. */
    creates: () => platform.creates.length,
    [Symbol.asyncDispose]: () => platform[Symbol.asyncDispose](),
  }
}
