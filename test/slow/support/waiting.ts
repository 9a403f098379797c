import { type Story } from './story.ts'
import type { Live } from '../../support/live.ts'
import type { FakePipe } from './fake-world.ts'
import { ownError } from './fake-platform.ts'
import { until } from '../../support/until.ts'
import { pipeManifest } from '../../support/manifests.ts'

/** What a write has to wait for: a 429 that pauses its credential, or a place in a small budget. */
export const WAITS = ['a 429 pauses the credential', 'the budget has no place'] as const

export type Wait = (typeof WAITS)[number]

/** Long enough for any change of the directory to be read, on a slow machine as well: s. */
export const WAIT_S = 12

/**
 * A daemon at rest, in which from now on every request of the credential of `analytics` has to wait for some seconds; and
 * what `write` asks for waits already.
 */
export async function waitingFor(
  story: Story,
  wait: Wait,
  write: () => void,
  more: readonly string[] = [],
): Promise<Live> {
  const { platform } = story
  story.writePipe('warm')
  const settings = {
    'a 429 pauses the credential': ['--interval', '1s'],
    'the budget has no place': ['--interval', '1h', '--api-budget', `1/${WAIT_S}s`],
  }[wait]
  const live = await story.start([...settings, ...more])
  await live.says('Pipe/warm', 'Ready')
  if (wait === 'a 429 pauses the credential') {
    const { id } = platform.world.pipe('warm')
    let told = false
    platform.decide = (request) => {
      if (told || request.id !== id) return undefined
      told = true
      return ownError(429, { 'Retry-After': String(WAIT_S) })
    }
    await until('the pause', () => platform.requests.some(({ status }) => status === 429))
    await until('the pause to be told', () =>
      live.program.log().some(({ msg }) => msg === 'Rate limited by the platform'),
    )
  }
  write()
  await until('it to wait', async () => {
    const { budgets } = (await (await fetch(`${live.url}/api/v1/overview`)).json()) as {
      readonly budgets: readonly { readonly waiting: number }[]
    }
    return budgets.some(({ waiting }) => waiting > 0)
  })
  return live
}

/** A pipe that others made, just as the manifest of that name asks for it. */
export function madeByOthers({ platform }: Story, name: string, serviceId: string): FakePipe {
  const { world } = platform
  const keyId = world.services.find((service) => service.serviceId === serviceId)?.keyIds[0]
  const topic = /topics: (\S+)/.exec(pipeManifest(name))?.[1]
  const body = {
    name,
    source: { kafka: { brokers: 'b-1.example:9092', topics: topic } },
    destination: { database: 'default', table: name, columns: [{ name: 'id', type: 'UInt64' }] },
    fieldMappings: [{ sourceField: 'id', destinationField: 'id' }],
    scaling: { replicas: 1 },
  }
  world.work({
    operation: 'createPipe',
    keyId,
    serviceId,
    collection: 'pipes',
    id: undefined,
    idempotencyKey: undefined,
    text: JSON.stringify(body),
  })
  return world.pipe(name)
}

export function lockOf(pipes: Readonly<Record<string, string>>): string {
  const entries = Object.entries(pipes).map(([name, id]) => `Pipe/${name}: ${id}`)
  return `apiVersion: pipewright/v1\nkind: Lock\nmetadata: {name: pipes}\nspec: {pipes: {${entries.join(', ')}}}\n`
}
