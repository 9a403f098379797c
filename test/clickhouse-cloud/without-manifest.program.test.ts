import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { play, story } from '../ways-out/story.ts'
import { consoleOf, given, id, there } from './listed-world.ts'

/* Pipes that a list showed and no manifest holds: what `status`, the API and the metrics say of them. */

const IN_CONSOLE = consoleOf(there(2, 'b'), there(1, 'a'))

test('status tells them in a line, and in JSON, and asks the platform for nothing', () =>
  story(given(['orders'], IN_CONSOLE), 'apply', async (world) => {
    const before = world.platform.requests().length
    await play(
      world,
      `status | 2 pipes of service analytics have no manifest: a (${id(1)}), b (${id(2)}).
      | once: no manifest | "pipewright import --all analytics" writes manifests for them. Listed just now.
      status -o json | "withoutManifest": [ { "service": "analytics",…"count": 2, | "listedAt": "20
      | "pipes": [ { "id": "${id(1)}", "name": "a" }, { "id": "${id(2)}", "name": "b" } ]`,
    )
    expect(world.platform.requests()).toHaveLength(before)
  }))

test('a daemon that only looks for drift has them in its overview and its metrics, until a manifest holds them', () =>
  story(given(['orders'], IN_CONSOLE), 'apply', async (world) => {
    const url = await world.startDaemon('--interval', '2s')
    const told = async () => {
      const overview = await (await fetch(`${url}/api/v1/overview`)).json()
      return (overview as { readonly withoutManifest: readonly { readonly message: string }[] })
        .withoutManifest
    }
    const metrics = async () => (await fetch(`${url}/metrics`)).text()
    await until('the pipes to be told', async () => (await told()).length > 0)
    expect(await told()).toMatchObject([
      {
        service: 'analytics',
        count: 2,
        message: expect.stringMatching(/^2 pipes of service analytics have no/),
      },
    ])
    const METRIC = 'pipewright_pipes_without_manifest{service_name="analytics"}'
    expect(await metrics()).toContain(`${METRIC} 2\n`)
    await play(world, `changes createPipe\nwrite a policy.adopt=${id(1)}\nwrite b policy.adopt=${id(2)}`)
    await until('none to be told any more', async () => (await told()).length === 0)
    expect(await metrics()).toContain(`${METRIC} 0\n`)
  }))
