import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, test } from 'vitest'
import { pipeManifest, SERVICE, SERVICE_ID } from '../support/manifests.ts'
import { resourcesOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createScenario } from './scenario.ts'

/** Long enough for three readings that agree, and a reconcile after them. */
const A_WHILE_MS = 3_000

const names = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`)

describe.concurrent('renames', () => {
  test('a file that moves changes nothing but where the manifest is said to be', async ({ expect }) => {
    await using scenario = await createScenario()
    const { workspace, platform } = scenario
    scenario.writePipe('orders')
    scenario.writePipe('refunds')
    const live = await scenario.start()
    const { pipeId } = await live.says('Pipe/orders', 'Ready')
    await live.says('Pipe/refunds', 'Ready')
    const before = platform.requests().length
    const lines = live.program.log().length
    mkdirSync(join(workspace.manifests, 'payments'))
    renameSync(join(workspace.manifests, 'orders.yaml'), join(workspace.manifests, 'payments', 'o.yml'))
    const moved = await until('the new place to be shown', async () => {
      const shown = await live.resource('Pipe/orders')
      return shown?.file === 'payments/o.yml' ? shown : undefined
    })
    await pause(A_WHILE_MS)
    expect(moved).toMatchObject({ status: 'Ready', pipeId })
    expect(await live.resource('Pipe/orders')).toMatchObject({ status: 'Ready', pipeId })
    expect(
      platform
        .requests()
        .slice(before)
        .filter(({ method }) => method !== 'GET'),
    ).toEqual([])
    const said = live.program
      .log()
      .slice(lines)
      .map(({ msg }) => msg)
    expect(said.filter((msg) => msg !== 'Manifests read')).toEqual([])
  })

  test('a rename while the create is under way waits for it, and takes its pipe along: one POST', async ({
    expect,
  }) => {
    await using scenario = await createScenario()
    const { workspace, platform } = scenario
    platform.faults.add({ operation: 'createPipe', fault: { type: 'latency', ms: 6_000 } })
    workspace.write('manifests/orders.yaml', pipeManifest('orders', { name: 'orders' }))
    const live = await scenario.start(['--interval', '2s'])
    await until('the create to arrive', () => scenario.creates().length === 1)
    workspace.write('manifests/orders.yaml', pipeManifest('orders-eu', { name: 'orders' }))
    await live.says('Pipe/orders-eu', 'RenameSuspected')
    const moved = await live.says('Pipe/orders-eu', 'Ready', 30_000)
    expect(moved.pipeId).toBe(platform.pipes()[0]?.id)
    await pause(A_WHILE_MS)
    expect(await live.resource('Pipe/orders')).toBeUndefined()
    expect(scenario.creates()).toEqual(['orders'])
    expect(platform.pipes()).toHaveLength(1)
  })

  test('a rename of which only the new file is there yet makes no second pipe, and moves when the old one goes', async ({
    expect,
  }) => {
    await using scenario = await createScenario()
    const { workspace, platform } = scenario
    workspace.write('manifests/orders.yaml', pipeManifest('orders', { name: 'orders' }))
    const live = await scenario.start(['--interval', '2s'])
    await live.says('Pipe/orders', 'Ready')
    workspace.write('manifests/orders-eu.yaml', pipeManifest('orders-eu', { name: 'orders' }))
    await live.says('Pipe/orders-eu', 'NameTaken')
    await pause(A_WHILE_MS)
    expect((await live.resource('Pipe/orders'))?.status).toBe('Ready')
    rmSync(join(workspace.manifests, 'orders.yaml'))
    const moved = await live.says('Pipe/orders-eu', 'Ready', 30_000)
    expect(moved.pipeId).toBe(platform.pipes()[0]?.id)
    expect(scenario.creates()).toEqual(['orders'])
    expect(platform.pipes()).toHaveLength(1)
  })
})

describe.concurrent('the create limit', () => {
  test('26 new pipes at once are all refused, and none is created until a person says yes', async ({
    expect,
  }) => {
    await using scenario = await createScenario()
    for (const name of names(26)) scenario.writePipe(name)
    const live = await scenario.start()
    await until('all to be refused', async () => {
      const pipes = (await resourcesOf(live.url)).filter(({ key }) => key.startsWith('Pipe/'))
      return pipes.length === 26 && pipes.every(({ reason }) => reason === 'CreateLimit')
    })
    await pause(A_WHILE_MS)
    expect(scenario.creates()).toEqual([])
    const beside = await scenario.run(['apply', '--yes'])
    expect(beside.code).toBe(1)
    expect(beside.stderr).toContain('held by another pipewright')
    await live.stop()

    const refused = await scenario.run(['apply'])
    expect(refused.code).toBe(1)
    expect(refused.stdout).toContain('CreateLimit')
    expect(scenario.creates()).toEqual([])

    const applied = await scenario.run(['apply', '--yes'], ['--api-budget', '1000/1s'])
    expect(applied.stderr).not.toContain('"level":50')
    expect(applied.code).toBe(0)
    expect(scenario.creates().toSorted()).toEqual(names(26).toSorted())
    expect((await scenario.run(['plan'], ['--api-budget', '1000/1s'])).code).toBe(0)
  })

  test('25 pass, and the 26th waits within the hour until a person says yes', async ({ expect }) => {
    await using scenario = await createScenario()
    for (const name of names(25)) scenario.writePipe(name)
    const live = await scenario.start()
    await until('all to be created', () => scenario.platform.pipes().length === 25)
    scenario.writePipe('late')
    const { message } = await live.says('Pipe/late', 'CreateLimit')
    expect(message).toContain('1 creation is pending, 25 were made within the last hour')
    expect((await scenario.run(['allow', '--service', 'analytics'])).code).toBe(0)
    await live.says('Pipe/late', 'Ready')
    expect(scenario.creates()).toHaveLength(26)
  })
})

describe.concurrent('what goes and comes back', () => {
  const emptied = [
    {
      what: 'all files are removed',
      empty: (dir: string) => readdirSync(dir).forEach((file) => rmSync(join(dir, file))),
    },
    { what: 'the directory is removed', empty: (dir: string) => rmSync(dir, { recursive: true }) },
  ] as const
  test.for(emptied)(
    'an emptied directory changes nothing, before and after a restart: $what',
    async ({ empty }, { expect }) => {
      await using scenario = await createScenario()
      const { workspace } = scenario
      for (const name of names(4)) scenario.writePipe(name)
      const first = await scenario.start(['--interval', '1s'])
      for (const name of names(4)) await first.says(`Pipe/${name}`, 'Ready')
      empty(workspace.manifests)
      await pause(A_WHILE_MS)
      for (const { status } of await resourcesOf(first.url)) expect(status).toBe('Ready')
      await until('the directory to be said to be wrong', async () => {
        const overview = JSON.stringify(await (await fetch(`${first.url}/api/v1/overview`)).json())
        return /is empty|is missing|cannot be read/.test(overview)
      })
      await first.stop()

      const second = await scenario.start(['--interval', '1s'])
      await pause(A_WHILE_MS)
      const statuses = (await resourcesOf(second.url)).map(({ status }) => status)
      expect(statuses).not.toContain('Orphaned')
      await second.stop()
      const applied = await scenario.run(['apply', '--yes'])
      expect(applied.code).toBe(1)
      const { stdout } = await scenario.run(['status'])
      expect(stdout).not.toContain('Orphaned')
      expect(scenario.creates()).toHaveLength(4)
    },
  )

  test('an orphan that comes back finds its pipe, in one life and across a restart: no POST', async ({
    expect,
  }) => {
    await using scenario = await createScenario()
    const { workspace } = scenario
    for (const name of names(5)) scenario.writePipe(name)
    const first = await scenario.start()
    const { pipeId } = await first.says('Pipe/p0', 'Ready')
    for (const name of names(5)) await first.says(`Pipe/${name}`, 'Ready')
    rmSync(join(workspace.manifests, 'p0.yaml'))
    const orphan = await first.says('Pipe/p0', 'Orphaned')
    expect(orphan.pipeId).toBe(pipeId)
    expect(orphan.message).toContain('pipewright forget Pipe/p0')
    scenario.writePipe('p0')
    expect((await first.says('Pipe/p0', 'Ready')).pipeId).toBe(pipeId)

    rmSync(join(workspace.manifests, 'p0.yaml'))
    await first.says('Pipe/p0', 'Orphaned')
    await first.stop()
    const second = await scenario.start()
    await second.says('Pipe/p0', 'Orphaned')
    await second.stop()
    scenario.writePipe('p0')
    const third = await scenario.start()
    expect((await third.says('Pipe/p0', 'Ready')).pipeId).toBe(pipeId)
    expect(scenario.creates().toSorted()).toEqual(names(5))
  })
})

describe.concurrent('what a person changes', () => {
  test('a rotated secret is reported, and adopting says that the pipe has it', async ({ expect }) => {
    await using scenario = await createScenario()
    const { workspace } = scenario
    scenario.writePipe('orders')
    const live = await scenario.start(['--interval', '1s'])
    const { pipeId } = await live.says('Pipe/orders', 'Ready')
    workspace.write('secrets/kafka/password', 'planted-another-password')
    const rotated = await live.says('Pipe/orders', 'SecretRotated')
    expect(rotated.status).toBe('Drifted')
    expect(rotated.message).toContain('source.kafka.credentials.password')
    expect(rotated.message).toContain(`pipewright adopt Pipe/orders ${pipeId}`)
    const adopted = await scenario.run(['adopt', 'Pipe/orders', pipeId ?? ''])
    expect(adopted.stderr).toBe('')
    expect(adopted.code).toBe(0)
    await live.says('Pipe/orders', 'Ready')
    expect(scenario.creates()).toEqual(['orders'])
    const everything = [
      live.program.stdout(),
      adopted.stdout,
      JSON.stringify(await resourcesOf(live.url)),
    ].join('\n')
    expect(everything).not.toContain('planted-')
  })

  test('a secret that is not mounted is waited for, and nothing is sent meanwhile', async ({ expect }) => {
    await using scenario = await createScenario()
    const { workspace, platform } = scenario
    rmSync(workspace.path('secrets', 'kafka'), { recursive: true })
    scenario.writePipe('orders')
    const live = await scenario.start(['--interval', '1s'])
    const waiting = await live.says('Pipe/orders', 'SecretUnavailable')
    expect(waiting.status).toBe('Refused')
    expect(waiting.message).toContain('kafka/password')
    await pause(A_WHILE_MS)
    expect(platform.requests()).toEqual([])
    workspace.write('secrets/kafka/password', 'planted-password')
    await live.says('Pipe/orders', 'Ready')
    expect(scenario.creates()).toEqual(['orders'])
  })

  test('a suspended pipe is left alone, and goes on by itself when the time has come', async ({ expect }) => {
    await using scenario = await createScenario()
    const { platform } = scenario
    const end = Date.now() + 20_000
    const more = `policy: {suspend: {reason: planned migration, until: "${new Date(end).toISOString()}"}}`
    scenario.writePipe('orders', { more })
    const live = await scenario.start(['--interval', '1s'])
    const held = await live.says('Pipe/orders', 'Suspended')
    expect(held.message).toContain('planned migration')
    await until('the time to come', () => Date.now() >= end - 500)
    expect(platform.requests()).toEqual([])
    await live.says('Pipe/orders', 'Ready')
    expect(Date.now()).toBeGreaterThanOrEqual(end)
    expect(scenario.creates()).toEqual(['orders'])
  })

  test('another serviceId in the Service manifest creates nothing a second time', async ({ expect }) => {
    await using scenario = await createScenario()
    const { workspace, platform } = scenario
    for (const name of names(4)) scenario.writePipe(name)
    const live = await scenario.start(['--interval', '1s'])
    for (const name of names(4)) await live.says(`Pipe/${name}`, 'Ready')
    const other = SERVICE_ID.replace('7f0d2c9a', '00000000')
    workspace.write('manifests/service.yaml', SERVICE.replace(SERVICE_ID, other))
    for (const name of names(4)) await live.says(`Pipe/${name}`, 'NotUpdatable')
    scenario.writePipe('late')
    const rejected = await live.says('Pipe/late', 'Rejected')
    expect(rejected.message).toContain('404')
    expect(platform.pipes()).toHaveLength(4)
    workspace.write('manifests/service.yaml', SERVICE)
    for (const name of [...names(4), 'late']) await live.says(`Pipe/${name}`, 'Ready')
    expect(platform.pipes()).toHaveLength(5)
  })
})
