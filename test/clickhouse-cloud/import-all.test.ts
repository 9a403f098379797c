import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { OTHER_SERVICE_ID, platformArgs, serviceManifest } from '../support/manifests.ts'
import { importReport } from '../../src/cli/imported-manifests.ts'
import { runHere } from '../support/command.ts'
import type { Given } from '../ways-out/given.ts'
import { type Step, story } from '../ways-out/story.ts'
import { consoleOf, given, id, there } from './listed-world.ts'

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

const OUT = 'import --all analytics --output-dir {dir}/manifests/imported'

function prints(names: readonly string[]): Step {
  return async ({ command }) => {
    const documents = parseAllDocuments((await command('import', '--all')).stdout)
    expect(documents.map((one) => one.getIn(['metadata', 'name']))).toEqual(names)
  }
}

function counts(all: number, held: number, meant: number, left: number): string {
  return (
    `| pipewright: Pipes in Service/analytics: ${all}. With a manifest or a record: ${held}. ` +
    `Might belong to a manifest: ${meant}. Others: ${left}.`
  )
}

const filesIn = ({ workspace }: Given, folder: string) => readdirSync(workspace.path(folder)).toSorted()

describe('import --all', () => {
  test('writes a file for each pipe, which validate accepts and a plan adopts, and then finds none', () => {
    const { source, destination } = there(2, '')
    const pipes = [
      there(1, 'A  Größe!'),
      there(2, 'twin'),
      there(3, 'twin', { source, destination }),
      there(4, 'twin-2'),
      there(5, '订单'),
      there(6, 'bills', KAFKA),
    ]
    const names = ['a-gro-e', 'bills', 'pipe-00000000', 'twin', 'twin-2', 'twin-3']
    return story(
      given(['orders'], consoleOf(...pipes)),
      `apply
      import --all --output-dir {dir}/aside | {dir}/aside is outside --manifests: move the files into {dir}/manifests.
      ${OUT} ${counts(7, 1, 0, 6)} | not: is outside
      | pipewright: Files written to {dir}/manifests/imported: 6. pipewright: No secret is written.
      | Comments on top of a manifest, if any, name the secrets to mount and the values to fill in.
      | pipewright: Next, run "pipewright plan". It must say "adopt" for each manifest. …remove policy.adopt`,
      (world) => {
        expect(filesIn(world, 'manifests/imported')).toEqual(names.map((name) => `${name}.yaml`).toSorted())
        const bills = readFileSync(world.workspace.path('manifests/imported/bills.yaml'), 'utf8')
        expect(bills).toContain('#   spec.source.kafka.credentials.password: secret bills, key password')
        expect(bills).toContain(`adopt: ${id(6)}`)
        expect(bills).not.toContain('planted')
      },
      `validate
      mount secrets/bills/username=planted
      mount secrets/bills/password=planted
      plan => 2 ${names.map((name) => `| Pipe/${name} adopt`).join(' ')}
      apply
      reasons ${[...names, 'orders']
        .toSorted()
        .map((name) => `${name}=InSync`)
        .join(' ')}
      changes createPipe
      import --all ${counts(7, 7, 0, 0)} | not: kind: Pipe`,
    )
  })

  test('prints one stream in the same order each time, for one file', () =>
    story(
      given([], consoleOf(there(3, 'c'), there(1, 'b'), there(2, 'a'))),
      prints(['a', 'b', 'c']),
      prints(['a', 'b', 'c']),
      `import --all
      keep all
      plan => 2 | Pipe/a adopt | Pipe/b adopt | Pipe/c adopt`,
    ))

  test('makes none for a pipe that a manifest asks for by name, and says so', () =>
    story(
      given(['orders'], consoleOf(there(1, 'orders'), there(2, 'other'))),
      prints(['other']),
      `import --all ${counts(2, 0, 1, 1)}
      | Pipe/orders might describe the pipe ${id(1)} ("orders"), so no new manifest is made.`,
    ))

  test('makes none for what a create of unknown outcome may have made', () =>
    story(
      given(['orders']),
      `create: cut-after
      apply => 1
      reasons orders=OutcomeUnknown
      remove orders
      import --all ${counts(1, 0, 1, 0)}`,
      prints([]),
    ))

  test('gives no name that a manifest has already', () =>
    story(
      given([], consoleOf(there(1, 'orders'))),
      `write orders name=elsewhere policy.adopt=${id(9)}`,
      prints(['orders-2']),
    ))

  test('takes the key that a Lock has for a pipe', () =>
    story(
      given([], consoleOf(there(1, 'orders'), there(2, 'shop'))),
      `locked Pipe/shop=${id(1)}`,
      prints(['shop', 'shop-2']),
      `import --all | name: shop…adopt: ${id(1)}…name: shop-2…adopt: ${id(2)}`,
    ))

  test('says what is left out once for all pipes, and nothing of what is not set', () => {
    const numbers = [1, 2, 3, 4, 5]
    const more = { owner: 'me', settings: null, note: '', 'a\nspec: evil': { b: 'c' } }
    return story(
      given([], consoleOf(...numbers.map((number) => there(number, `p${number}`)))),
      ({ platform }) => numbers.forEach((number) => platform.change(id(number), more)),
      prints(['p1', 'p2', 'p3', 'p4', 'p5']),
      `import --all | # spec.a\\nspec: evil
      | pipewright: Pipe/p1 and 4 more: spec.owner is left out. A manifest has no such field.
      | pipewright: Pipe/p1 and 4 more: spec.a\\nspec: evil is left out. A manifest has no such field.
      | not: spec.settings is left out | not: spec.note is left out`,
    )
  })

  test('names a pipe of which no manifest can be made, and writes the others', () =>
    story(
      given([], consoleOf(there(1, 'a'), there(2, 'b'))),
      ({ platform }) => platform.change(id(1), { source: { kinesis: { streamName: '' } } }),
      prints(['b']),
      `import --all => 1 | pipewright: import: no manifest can be made of ${id(1)} ("a").
      | A manifest needs spec.source.kinesis.streamName. It is missing.
      | Write one, with policy.adopt: ${id(1)}.`,
    ))

  test('names each item of a list that cannot be read', () => {
    const odd = ['index 0 (id x): state', 'index 3: not an object']
    const survey = { service: 'analytics', there: 1, held: 1, wanted: [], odd }
    const none = { surveys: [survey], all: [], folder: undefined, problems: [] }
    const lines = importReport({ ...none, manifests: '.' })
    for (const item of odd)
      expect(lines).toContain(
        `Service/analytics: a resource in its list cannot be read, so no manifest is written for it: ${item}.`,
      )
  })

  test('prints JSON for scripts', () =>
    story(given([], consoleOf(there(1, 'bills', KAFKA))), async ({ command }) => {
      const { stdout } = await command('import', '--all', '-o', 'json')
      const names = { key: 'Pipe/bills', pipeId: id(1), name: 'bills', service: 'analytics' }
      const secrets = ['password', 'username'].map((name) => ({
        path: `spec.source.kafka.credentials.${name}`,
      }))
      expect(JSON.parse(stdout)).toMatchObject([
        { ...names, manifest: { policy: { adopt: id(1) } }, leftOut: [], secrets },
      ])
    }))
})

describe('import --all leaves a file as it is', () => {
  test('where one is in the way: the others are written', () =>
    story(
      given([], consoleOf(there(1, 'a'), there(2, 'b'), there(3, 'c'))),
      `mount out/b.yaml=mine
      import --all --output-dir {dir}/out => 1 | pipewright: Files written to {dir}/out: 2.
      | pipewright: import: {dir}/out/b.yaml exists and is not overwritten, so Pipe/b has no manifest there.
      | Give another --output-dir.`,
      (world) => {
        expect(filesIn(world, 'out')).toEqual(['a.yaml', 'b.yaml', 'c.yaml'])
        expect(readFileSync(world.workspace.path('out/b.yaml'), 'utf8')).toBe('mine')
      },
    ))

  test('where one is in the place of the folder', () =>
    story(
      given([], consoleOf(there(1, 'a'))),
      `mount out=mine
      import --all --output-dir {dir}/out => 1
      | pipewright: import: {dir}/out cannot be created (EEXIST). Give another --output-dir.`,
    ))
})

describe('import --all writes nothing, and says why,', () => {
  test('where there is no pipe', () =>
    story(given([]), `import --all --output-dir {dir}/out ${counts(0, 0, 0, 0)} | not: kind: Pipe`, (world) =>
      expect(filesIn(world, '.')).not.toContain('out'),
    ))

  test('where there is no such Service', () =>
    story(
      given([]),
      `import --all analytic => 1
      | pipewright: import: there is no valid manifest of Service/analytic. Did you mean analytics?`,
    ))

  test('where the key is refused; with another service, that one is written all the same', () =>
    story(
      given([], consoleOf(there(1, 'a'))),
      ({ workspace }) => {
        const other = { name: 'other', serviceId: OTHER_SERVICE_ID, secret: 'other-api' }
        workspace.write('manifests/other.yaml', serviceManifest(other))
      },
      `mount credentials/other-api/keyId=wrong
      mount credentials/other-api/keySecret=wrong-secret
      import --all other => 1 | not: kind: Pipe
      | pipewright: import: the pipes of Service/other could not be listed. …401
      import --all => 1 | pipewright: import: the pipes of Service/other could not be listed.`,
      prints(['a']),
    ))

  test.each([
    ['a key', '--all Pipe/orders', '--all takes no key and no pipe id'],
    ['an id', '--all analytics x', '--all takes no key and no pipe id'],
    ['a Service twice', '--all analytics --service analytics', 'Give the name of one Service'],
    ['no Service', `Pipe/a ${id(1)}`, '--service NAME'],
    ['neither a key nor --all', '', 'Or give --all'],
  ])('called with %s', (_what, args, says) =>
    story(given([]), `${`import ${args}`.trim()} => 64 | ${says} | not: kind: Pipe`),
  )

  test('where the platform does not list', () =>
    story(given([]), async ({ workspace, platform }) => {
      const called = await runHere(['import', '--all', ...platformArgs(workspace, platform.url)])
      expect(called).toMatchObject({ code: 64, stdout: '' })
      expect(called.stderr).toContain(
        'does not list its pipes. Import one resource at a time: "pipewright import KEY ID --service NAME',
      )
    }))
})

test('a key whose create has an unknown outcome gets no other pipe', () =>
  story(
    given(['orders', 'keep'], consoleOf(there(2, 'Orders'))),
    `create: cut-after orders
    apply => 1
    remove orders
    apply => 1
    locked Pipe/orders=${id(2)}
    import Pipe/orders ${id(2)} --service analytics => 1 | Pipe/orders has a record of another pipe.
    ${OUT}`,
    (world) => expect(filesIn(world, 'manifests/imported')).toEqual(['orders-2.yaml']),
  ))

test('after a lost ledger, a pipe that a Lock gave to the former name has a manifest', () =>
  story(
    given(['orders', 'keep'], consoleOf(there(2, 'sales'))),
    `apply
    lock
    keep lock
    remove orders
    write sales stream=orders policy.renamedFrom=Pipe/orders
    import Pipe/orders {orders} --service analytics --ledger sqlite:{dir}/new.db => 1 | belongs to Pipe/sales already
    import --all --ledger sqlite:{dir}/new.db ${counts(3, 2, 0, 1)}
    adopt Pipe/sales {orders} --ledger sqlite:{dir}/new.db`,
  ))
