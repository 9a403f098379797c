import { setTimeout } from 'node:timers/promises'
import type { PlatformClient, PlatformOptions } from '../platform/clients.ts'

/** Loading holds up everything else for a while: what this process is asked at that moment is answered first. */
const OTHERS_FIRST_MS = 10

/**
 * The client of the platform, loaded by the first request: a daemon is ready before it asks anything, and a command may
 * end without a question.
 */
export function createLatePlatform(options: PlatformOptions): PlatformClient {
  let client: PlatformClient | undefined
  let loading: Promise<PlatformClient> | undefined

  const load = () => (loading ??= loadNow())

  async function loadNow(): Promise<PlatformClient> {
    await setTimeout(OTHERS_FIRST_MS)
    const { createPlatform } = await import('../platform/clients.ts')
    client = createPlatform(options)
    return client
  }

  return {
    read: (...args) => client?.read(...args) ?? load().then((loaded) => loaded.read(...args)),
    admitCreate: async (...args) => (await load()).admitCreate(...args),
    upsert: async (...args) => (await load()).upsert(...args),
    budgets: () => client?.budgets() ?? [],
    pauses: () => client?.pauses() ?? [],
    async [Symbol.asyncDispose]() {
      await (await loading?.catch(() => undefined))?.[Symbol.asyncDispose]()
    },
  }
}
