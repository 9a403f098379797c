import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { OTHER_SERVICE_ID, platformArgs, serviceManifest } from '../support/manifests.ts'
import { importReport } from '../../src/cli/imported-manifests.ts'
import { runHere } from '../support/command.ts'
import { consoleOf, given, id, pipe, there, type World } from './listed-world.ts'

/* A manifest for each pipe that has none (`import --all`), with the commands and a platform that lists. */

const KAFKA = {
  source: {
    kafka: {
      type: 'confluent' as const,
      format: 'JSONEachRow' as const,
      brokers: 'b-1.example:9092',
      topics: 'bills',
      authentication: 'PLAIN' as const,
      credentials: { username: 'reader', password: 'planted' },
    },
  },
}

/** What a plan would do, of each key. */
async function planned(world: World): Promise<Readonly<Record<string, string>>> {
  const { stdout, stderr } = await world.run('plan', '-o', 'json')
  if (stdout === '') throw new Error(stderr)
  const { items } = JSON.parse(stdout) as {
    items: readonly { key: string; action: { type: string } | string }[]
  }
  return Object.fromEntries(
    items
      .filter(({ key }) => key.startsWith('Pipe/'))
      .map(({ key, action }) => [key.slice(5), typeof action === 'string' ? action : action.type]),
  )
}

function namesIn(text: string): readonly string[] {
  return parseAllDocuments(text).map((document) => String(document.getIn(['metadata', 'name'])))
}

describe('import --all', () => {
  test('writes a file for each pipe, which validate accepts and a plan adopts, and then finds none', async () => {
    await using world = await given(
      ['orders'],
      consoleOf(
        there(1, 'A  Größe!'),
        there(2, 'twin'),
        there(3, 'twin', { source: there(2, '').source, destination: there(2, '').destination }),
        there(4, 'twin-2'),
        there(5, '订单'),
        there(6, 'bills', KAFKA),
      ),
    )
    expect(await world.apply()).toEqual({ orders: 'InSync' })
    const imported = await world.run(
      'import',
      '--all',
      'analytics',
      '--output-dir',
      world.workspace.path('manifests/imported'),
    )
    expect(imported).toMatchObject({ code: 0, stdout: '' })
    expect(imported.stderr.split('\n')).toEqual([
      'pipewright: Service/analytics: 7 pipes. With a manifest or a record: 1. Might belong to a manifest: 0. Others: 6.',
      `pipewright: Files written to ${world.workspace.path('manifests/imported')}: 6.`,
      'pipewright: No secret is written. Comments on top of each manifest name the secrets to mount and the values to fill in.',
      expect.stringMatching(
        /^pipewright: Next, "pipewright plan" must say "adopt" for each manifest\. .*remove policy\.adopt/,
      ),
      '',
    ])
    const names = ['a-gro-e', 'bills', 'pipe-00000000', 'twin', 'twin-2', 'twin-3']
    expect(readdirSync(world.workspace.path('manifests/imported')).toSorted()).toEqual(
      names.map((name) => `${name}.yaml`).toSorted(),
    )
    const bills = readFileSync(world.workspace.path('manifests/imported/bills.yaml'), 'utf8')
    expect(bills).toContain('#   spec.source.kafka.credentials.password: secret bills, key password')
    expect(bills).toContain(`adopt: ${id(6)}`)
    expect(bills).not.toContain('planted')
    expect(
      (await runHere(['validate', world.workspace.manifests, '--profile', 'clickhouse-cloud'])).code,
    ).toBe(0)
    for (const key of ['username', 'password']) world.workspace.write(`secrets/bills/${key}`, 'planted')
    const plan = await planned(world)
    expect(names.map((name) => plan[name])).toEqual(names.map(() => 'adopt'))
    expect(Object.values(await world.apply())).toEqual(Array(7).fill('InSync'))
    expect(world.requests('createPipe')).toBe(1)
    expect(await world.run('import', '--all')).toEqual({
      code: 0,
      stdout: '',
      stderr:
        'pipewright: Service/analytics: 7 pipes. With a manifest or a record: 7. Might belong to a manifest: 0. Others: 0.\n',
    })
  })

  test('prints one stream in the same order each time, for one file', async () => {
    await using world = await given([], consoleOf(there(3, 'c'), there(1, 'b'), there(2, 'a')))
    const printed = await world.run('import', '--all')
    expect(printed.code).toBe(0)
    expect(namesIn(printed.stdout)).toEqual(['a', 'b', 'c'])
    expect(await world.run('import', '--all')).toEqual(printed)
    world.workspace.write('manifests/all.yaml', printed.stdout)
    expect(await planned(world)).toEqual({ a: 'adopt', b: 'adopt', c: 'adopt' })
  })

  test('makes none for a pipe that a manifest asks for by name, and says so', async () => {
    await using world = await given(['orders'], consoleOf(there(1, 'orders'), there(2, 'other')))
    const imported = await world.run('import', '--all')
    expect(namesIn(imported.stdout)).toEqual(['other'])
    expect(imported.stderr).toContain(
      '2 pipes. With a manifest or a record: 0. Might belong to a manifest: 1. Others: 1.',
    )
    expect(imported.stderr).toContain(
      `Pipe/orders might describe the pipe ${id(1)} ("orders"), so no new manifest is made.`,
    )
  })

  test('makes none for what a create of unknown outcome may have made', async () => {
    await using world = await given(['orders'])
    world.platform.faults.add({ operation: 'createPipe', subject: 'orders', fault: { type: 'cut-after' } })
    expect(await world.apply()).toEqual({ orders: 'OutcomeUnknown' })
    rmSync(world.workspace.path('manifests/orders.yaml'))
    const imported = await world.run('import', '--all')
    expect(imported.stdout).toBe('')
    expect(imported.stderr).toContain(
      '1 pipes. With a manifest or a record: 0. Might belong to a manifest: 1. Others: 0.',
    )
  })

  test('gives no name that a manifest has already', async () => {
    await using world = await given([], consoleOf(there(1, 'orders')))
    world.workspace.write(
      'manifests/orders.yaml',
      pipe('orders', '  name: elsewhere\n', `policy: {adopt: ${id(9)}}`),
    )
    const imported = await world.run('import', '--all')
    expect(namesIn(imported.stdout)).toEqual(['orders-2'])
  })

  test('takes the key that a Lock has for a pipe', async () => {
    await using world = await given([], consoleOf(there(1, 'orders'), there(2, 'shop')))
    world.workspace.write(
      'manifests/pipes.lock.yaml',
      `apiVersion: pipewright/v1\nkind: Lock\nmetadata: {name: pipes}\nspec: {pipes: {Pipe/shop: ${id(1)}}}\n`,
    )
    const { stdout } = await world.run('import', '--all')
    const adopted = parseAllDocuments(stdout).map((one) => [
      one.getIn(['metadata', 'name']),
      one.getIn(['policy', 'adopt']),
    ])
    expect(adopted).toEqual([
      ['shop', id(1)],
      ['shop-2', id(2)],
    ])
  })

  test('says what is left out once for all pipes, and nothing of what is not set', async () => {
    const more = { owner: 'me', settings: null, note: '', 'a\nspec: evil': { b: 'c' } }
    await using world = await given(
      [],
      consoleOf(...[1, 2, 3, 4, 5].map((number) => there(number, `p${number}`))),
    )
    for (const number of [1, 2, 3, 4, 5]) world.platform.change(id(number), more)
    const { code, stdout, stderr } = await world.run('import', '--all')
    expect(code).toBe(0)
    expect(namesIn(stdout)).toEqual(['p1', 'p2', 'p3', 'p4', 'p5'])
    expect(stdout).toContain('\n#   spec.a\\nspec: evil\n')
    expect(stderr.split('\n').filter((line) => line.includes('left out'))).toEqual([
      'pipewright: Pipe/p1 and 4 more: spec.owner is left out. A manifest has no such field.',
      'pipewright: Pipe/p1 and 4 more: spec.a\\nspec: evil is left out. A manifest has no such field.',
    ])
  })

  test('names a pipe of which no manifest can be made, and writes the others', async () => {
    await using world = await given([], consoleOf(there(1, 'a'), there(2, 'b')))
    world.platform.change(id(1), { source: { kinesis: { streamName: '' } } })
    const { code, stdout, stderr } = await world.run('import', '--all')
    expect(code).toBe(1)
    expect(namesIn(stdout)).toEqual(['b'])
    expect(stderr).toContain(
      `pipewright: import: no manifest can be made of ${id(1)} ("a"). A manifest needs spec.source.kinesis.streamName. It is missing. Write one, with policy.adopt: ${id(1)}.`,
    )
  })

  test('names each item of a list that cannot be read', () => {
    const odd = ['index 0 (id x): state', 'index 3: not an object']
    const survey = { service: 'analytics', there: 1, held: 1, wanted: [], odd }
    const here = { sandbox: false, ledger: undefined }
    const lines = importReport({ surveys: [survey], all: [], folder: undefined, problems: [], here })
    for (const item of odd)
      expect(lines).toContain(
        `Service/analytics: an item of its list cannot be read, so it gets no manifest: ${item}.`,
      )
  })

  test('prints JSON for scripts', async () => {
    await using world = await given([], consoleOf(there(1, 'bills', KAFKA)))
    const { code, stdout } = await world.run('import', '--all', '-o', 'json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject([
      {
        key: 'Pipe/bills',
        pipeId: id(1),
        name: 'bills',
        service: 'analytics',
        manifest: { policy: { adopt: id(1) } },
        leftOut: [],
        secrets: [
          { path: 'spec.source.kafka.credentials.password' },
          { path: 'spec.source.kafka.credentials.username' },
        ],
      },
    ])
  })
})

describe('import --all leaves a file as it is', () => {
  test('where one is in the way: the others are written', async () => {
    await using world = await given([], consoleOf(there(1, 'a'), there(2, 'b'), there(3, 'c')))
    const folder = world.workspace.path('out')
    mkdirSync(folder)
    world.workspace.write('out/b.yaml', 'mine')
    const { code, stderr } = await world.run('import', '--all', '--output-dir', folder)
    expect(code).toBe(1)
    expect(stderr).toContain(
      `pipewright: import: ${folder}/b.yaml exists and is not overwritten, so Pipe/b has no manifest there. Give another --output-dir.\n` +
        `pipewright: Files written to ${folder}: 2.\n`,
    )
    expect(readdirSync(folder).toSorted()).toEqual(['a.yaml', 'b.yaml', 'c.yaml'])
    expect(readFileSync(`${folder}/b.yaml`, 'utf8')).toBe('mine')
  })

  test('where one is in the place of the folder', async () => {
    await using world = await given([], consoleOf(there(1, 'a')))
    world.workspace.write('out', 'mine')
    const folder = world.workspace.path('out')
    const { code, stderr } = await world.run('import', '--all', '--output-dir', folder)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `pipewright: import: ${folder} cannot be created (EEXIST). Give another --output-dir.\n`,
    })
  })
})

describe('import --all writes nothing, and says why,', () => {
  test('where there is no pipe', async () => {
    await using world = await given([])
    const folder = world.workspace.path('out')
    expect(await world.run('import', '--all', '--output-dir', folder)).toEqual({
      code: 0,
      stdout: '',
      stderr:
        'pipewright: Service/analytics: 0 pipes. With a manifest or a record: 0. Might belong to a manifest: 0. Others: 0.\n',
    })
    expect(readdirSync(world.workspace.path('.'))).not.toContain('out')
  })

  test('where there is no such Service', async () => {
    await using world = await given([])
    const { code, stderr } = await world.run('import', '--all', 'analytic')
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'pipewright: import: there is no valid manifest of Service/analytic. Did you mean analytics?\n',
    })
  })

  test('where the key is refused; with another service, that one is written all the same', async () => {
    await using world = await given([], consoleOf(there(1, 'a')))
    world.workspace.write(
      'manifests/other.yaml',
      serviceManifest({ name: 'other', serviceId: OTHER_SERVICE_ID, secret: 'other-api' }),
    )
    world.workspace.write('credentials/other-api/keyId', 'wrong')
    world.workspace.write('credentials/other-api/keySecret', 'wrong-secret')
    const one = await world.run('import', '--all', 'other')
    expect(one).toMatchObject({ code: 1, stdout: '' })
    expect(one.stderr).toMatch(/^pipewright: import: the pipes of Service\/other could not be listed\. .*401/)
    const both = await world.run('import', '--all')
    expect(both.code).toBe(1)
    expect(namesIn(both.stdout)).toEqual(['a'])
    expect(both.stderr).toContain('pipewright: import: the pipes of Service/other could not be listed.')
  })

  test.each<{ why: string; args: readonly string[]; says: string }>([
    { why: 'a key', args: ['--all', 'Pipe/orders'], says: 'with --all, each pipe gets its own key' },
    { why: 'an id', args: ['--all', 'analytics', 'x'], says: 'with --all, each pipe gets its own key' },
    {
      why: 'a Service twice',
      args: ['--all', 'analytics', '--service', 'analytics'],
      says: 'Give the name of one Service',
    },
    { why: 'no Service', args: ['Pipe/a', id(1)], says: '--service NAME' },
    { why: 'neither a key nor --all', args: [], says: 'Or give --all' },
  ])('called with $why', async ({ args, says }) => {
    await using world = await given([])
    const called = await world.run('import', ...args)
    expect(called).toMatchObject({ code: 64, stdout: '' })
    expect(called.stderr).toContain(says)
  })

  test('where the platform does not list', async () => {
    await using world = await given([])
    const called = await runHere(['import', '--all', ...platformArgs(world.workspace, world.platform.url)])
    expect(called).toMatchObject({ code: 64, stdout: '' })
    expect(called.stderr).toContain(
      'does not list its pipes. Import one at a time: "pipewright import KEY ID --service NAME',
    )
  })
})
