import { expect, test } from 'vitest'
import { runArgs } from '../support/manifests.ts'
import { startProgram, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { consoleOf, given, id, pipe, there } from './listed-world.ts'

/* Pipes that a list showed and no manifest holds: what `status`, the API and the metrics say of them, with the real program. */

const IN_CONSOLE = consoleOf(there(2, 'b'), there(1, 'a'))

const SENTENCE = new RegExp(
  String.raw`^2 pipes of service analytics have no manifest: a \(${id(1)}\), b \(${id(2)}\)\. "pipewright import --all analytics" writes manifests for them\. Listed (just now|\d+s ago)\.$`,
)

test('status tells them in a line, and in JSON, and asks the platform for nothing', async () => {
  await using world = await given(['orders'], IN_CONSOLE)
  await world.apply()
  const before = world.platform.requests().length
  const { stdout } = await world.run('status')
  expect(stdout.split('\n').filter((line) => line.includes('no manifest'))).toEqual([
    expect.stringMatching(SENTENCE),
  ])
  const json = JSON.parse((await world.run('status', '-o', 'json')).stdout) as object
  expect(json).toMatchObject({
    withoutManifest: [
      {
        service: 'analytics',
        count: 2,
        listedAt: expect.stringMatching(/^20\d\d-/),
        pipes: [
          { id: id(1), name: 'a' },
          { id: id(2), name: 'b' },
        ],
      },
    ],
  })
  expect(world.platform.requests()).toHaveLength(before)
})

test('a daemon that only looks for drift has them in its overview and its metrics, until a manifest holds them', async () => {
  await using world = await given(['orders'], IN_CONSOLE)
  await world.apply()
  const lists = world.requests('listPipes')
  const more = ['--profile', 'clickhouse-cloud', '--interval', '2s']
  await using program = startProgram(runArgs(world.workspace, world.platform.url, more))
  const url = await urlOf(program)
  const overview = async () =>
    (await (await fetch(`${url}/api/v1/overview`)).json()) as {
      readonly withoutManifest: readonly { readonly message: string; readonly pipes: readonly object[] }[]
    }
  const found = await until('the pipes to be told', async () => {
    const { withoutManifest } = await overview()
    return withoutManifest.length > 0 ? withoutManifest : undefined
  })
  expect(found).toMatchObject([{ service: 'analytics', count: 2 }])
  expect(found[0]?.message).toMatch(/^2 pipes of service analytics have no manifest: a /)
  expect(world.requests('listPipes')).toBeGreaterThan(lists)
  expect(world.requests('createPipe')).toBe(1)
  expect(await (await fetch(`${url}/metrics`)).text()).toContain(
    'pipewright_pipes_without_manifest{service_name="analytics"} 2\n',
  )
  for (const [number, name] of [
    [1, 'a'],
    [2, 'b'],
  ] as const)
    world.workspace.write(`manifests/${name}.yaml`, pipe(name, '', `policy: {adopt: ${id(number)}}`))
  await until('none to be told any more', async () => (await overview()).withoutManifest.length === 0)
  expect(await (await fetch(`${url}/metrics`)).text()).toContain(
    'pipewright_pipes_without_manifest{service_name="analytics"} 0\n',
  )
})
