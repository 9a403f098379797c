import { readFileSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { furnish, pipeManifest, SERVICE_ID, OTHER_SERVICE_ID } from '../support/manifests.ts'
import { type Given, given, strayPipe } from './given.ts'

const NOWHERE = '0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a99'

interface Refusal {
  readonly why: string
  /** What goes before, and the words of the command. */
  readonly words: (given: Given) => Promise<readonly string[]>
  /** Whether what goes before changes the ledger, or the pipes that are there. */
  readonly isApart?: boolean
  /** 1 unless given. */
  readonly code?: 1 | 64
  readonly says: readonly RegExp[]
}

const PIPES = ['orders', 'refunds'] as const

/** The two pipes are there. */
async function settled(): Promise<Given> {
  const world = await given(...PIPES)
  expect((await world.apply()).code).toBe(0)
  return world
}

/** Nothing goes before. */
const AT_ONCE = (
  [
    ['adopting what is no pipe', `adopt Alert/lag ${NOWHERE}`, 64, /cannot be adopted or resolved/],
    ['a key that is none', `adopt orders ${NOWHERE}`, 64, /is not a key/],
    ['a kind that is none, in the history', 'history Pump/orders', 64, /is not a key/],
    ['an id that is none', 'adopt Pipe/orders x', 64, /is not the id/],
    [
      'resolving both ways at once',
      `resolve Pipe/orders --retry --adopt ${NOWHERE}`,
      64,
      /give --adopt ID if the pipe exists/,
    ],
    ['resolving neither way', 'resolve Pipe/orders', 64, /give --adopt ID if the pipe exists/],
    [
      'resolving what is settled',
      'resolve Pipe/orders --retry',
      1,
      /has no open create: it has pipe .*, created at /,
    ],
    ['resolving what is unknown', 'resolve Pipe/nothing --retry', 1, /the ledger has no record of it/],
    [
      'forgetting what has a manifest',
      'forget Pipe/orders',
      1,
      /has a manifest at orders\.yaml:1.*pipewright suspend/s,
    ],
    [
      'forgetting what is unknown',
      'forget Pipe/nothing',
      1,
      /No change was made: the ledger has no record of Pipe\/nothing/,
    ],
  ] as const
).map(([why, words, code, says]): Refusal => ({
  why,
  words: async () => words.split(' '),
  code,
  says: [says],
}))

const REFUSALS: readonly Refusal[] = [
  ...AT_ONCE,
  {
    why: 'an id that another key holds',
    words: async (world) => ['adopt', 'Pipe/orders', world.pipeId('refunds')],
    says: [/Pipe .* already belongs to Pipe\/refunds/],
  },
  {
    why: 'an id that another key holds, for a key that has none',
    words: async (world) => {
      world.workspace.write('manifests/new.yaml', pipeManifest('new'))
      return ['adopt', 'Pipe/new', world.pipeId('refunds').toUpperCase()]
    },
    says: [/already belongs to Pipe\/refunds/],
  },
  {
    why: 'an id that another manifest is about to adopt',
    words: async ({ workspace }) => {
      const more = `policy: {adopt: ${NOWHERE}}`
      workspace.write('manifests/other.yaml', pipeManifest('other', { more }))
      workspace.write('manifests/new.yaml', pipeManifest('new'))
      return ['adopt', 'Pipe/new', NOWHERE]
    },
    says: [/policy\.adopt at other\.yaml:1 gives pipe .* to Pipe\/other/],
  },
  {
    why: 'another id than the manifest itself names',
    words: async (world) => {
      const more = `policy: {adopt: ${NOWHERE}}`
      world.workspace.write('manifests/new.yaml', pipeManifest('new', { more }))
      return ['adopt', 'Pipe/new', await strayPipe(world, 'by-hand')]
    },
    says: [new RegExp(`policy.adopt at new.yaml:1 gives pipe ${NOWHERE} to Pipe/new`)],
  },
  {
    why: 'an id that a Lock gives to another key',
    words: async ({ workspace }) => {
      workspace.write('manifests/lock.yaml', lock('Pipe/other'))
      for (const name of ['new', 'other']) workspace.write(`manifests/${name}.yaml`, pipeManifest(name))
      return ['adopt', 'Pipe/new', NOWHERE]
    },
    says: [/A Lock gives pipe .* to Pipe\/other/],
  },
  {
    why: 'another id than a Lock gives to the key',
    words: async (world) => {
      world.workspace.write('manifests/lock.yaml', lock('Pipe/new'))
      return ['adopt', 'Pipe/new', await newAndStray(world, SERVICE_ID)]
    },
    says: [new RegExp(`A Lock gives pipe ${NOWHERE} to Pipe/new`)],
  },
  {
    why: 'a pipe of another service',
    words: async (world) => ['adopt', 'Pipe/new', await newAndStray(world, OTHER_SERVICE_ID)],
    says: [new RegExp(`There is no pipe .* in service analytics \\(${SERVICE_ID}\\)`)],
  },
  {
    why: 'an id that is not there',
    words: async ({ workspace }) => {
      workspace.write('manifests/new.yaml', pipeManifest('new'))
      return ['adopt', 'Pipe/new', NOWHERE]
    },
    says: [/There is no pipe 0b6c1d1e-.* in service analytics/],
  },
  {
    why: 'a manifest that is unknown, with the nearest name',
    words: async (world) => ['adopt', 'Pipe/oders', world.pipeId('orders')],
    says: [/There is no manifest of Pipe\/oders/, /Did you mean Pipe\/orders\?/],
  },
  {
    why: 'a manifest that has errors',
    words: async ({ workspace, pipeId }) => {
      workspace.write('manifests/orders.yaml', pipeManifest('orders').replace('brokers:', 'brokrs:'))
      return ['adopt', 'Pipe/orders', pipeId('orders')]
    },
    says: [/The manifest of Pipe\/orders has errors; correct them first\. orders\.yaml:\d+/],
  },
  {
    why: 'an adoption without a manifest of the pipe and of its service',
    words: async ({ workspace }) => {
      for (const name of ['orders', 'service']) workspace.write(`manifests/${name}.yaml`, '# gone\n')
      return ['adopt', 'Pipe/orders', NOWHERE]
    },
    says: [/Pipe\/orders and Service\/analytics have no manifest/],
  },
  {
    why: 'an adoption whose secret is not mounted',
    words: async ({ workspace, pipeId }) => {
      workspace.write(
        'manifests/orders.yaml',
        pipeManifest('orders').replace('key: password', 'key: passwort'),
      )
      return ['adopt', 'Pipe/orders', pipeId('orders')]
    },
    says: [/Secret file not found: .*kafka\/passwort/],
  },
  {
    why: 'an adoption whose secret is a credential of the platform',
    words: async ({ workspace, pipeId }) => {
      workspace.write(
        'secrets/kafka/password',
        readFileSync(`${workspace.credentials}/analytics-api/keySecret`, 'utf8'),
      )
      return ['adopt', 'Pipe/orders', pipeId('orders')]
    },
    says: [
      /Secret file cannot be used: .*kafka\/password \(a platform credential, which Pipewright does not send to a data source\)\./,
    ],
  },
  {
    why: 'a platform that refuses the credentials',
    words: async ({ workspace, pipeId }) => {
      workspace.write('credentials/analytics-api/keySecret', 'wrong')
      return ['adopt', 'Pipe/orders', pipeId('orders')]
    },
    says: [/No change was made: the pipe could not be read/, /refused the credentials/],
  },
  {
    why: 'another pipe while the first one exists',
    words: async (world) => ['adopt', 'Pipe/orders', await strayPipe(world, 'by-hand')],
    says: [
      /Pipe\/orders already has pipe .*, which exists/,
      /"pipewright forget Pipe\/orders"/,
      /policy\.adopt: /,
    ],
  },
  {
    why: 'another pipe while the first one is not found, which is not believed yet',
    isApart: true,
    words: async (world) => {
      const stray = await strayPipe(world, 'by-hand')
      world.platform.vanish(world.pipeId('orders'))
      return ['adopt', 'Pipe/orders', stray]
    },
    says: [/which was not found; that is not confirmed yet/],
  },
  {
    why: 'resolving what is settled with an id',
    words: async (world) => ['resolve', 'Pipe/orders', '--adopt', world.pipeId('orders')],
    says: [/Pipe\/orders has no open create: it has pipe/],
  },
  {
    why: 'resolving what was refused in clear words',
    isApart: true,
    words: async ({ workspace, platform, apply }) => {
      platform.faults.add({ operation: 'createPipe', fault: { type: 'status', status: 422 } })
      workspace.write('manifests/new.yaml', pipeManifest('new'))
      await apply()
      return ['resolve', 'Pipe/new', '--retry']
    },
    says: [/attempt 1 \(intent .*\) created nothing \(.*answered 422.*it will be tried again automatically/],
  },
  {
    why: 'forgetting what has a manifest with errors',
    words: async ({ workspace }) => {
      workspace.write('manifests/orders.yaml', pipeManifest('orders').replace('brokers:', 'brokrs:'))
      return ['forget', 'Pipe/orders']
    },
    says: [/has a manifest at orders\.yaml:1/],
  },
  {
    why: 'forgetting while the file cannot be parsed',
    words: async ({ workspace }) => {
      workspace.write('manifests/orders.yaml', 'kind: [')
      return ['forget', 'Pipe/orders']
    },
    says: [/has a manifest|a manifest of Pipe\/orders/],
  },
  {
    why: 'forgetting from an empty directory',
    words: async ({ workspace }) => {
      for (const name of ['orders', 'refunds', 'service'])
        workspace.write(`manifests/${name}.yaml`, '# gone\n')
      return ['forget', 'Pipe/orders']
    },
    says: [/it is unknown whether Pipe\/orders has a manifest/, /is empty, but it had manifests before/],
  },
  {
    why: 'forgetting what was no orphan at the last reconcile: perhaps this is another directory',
    words: async ({ workspace }) => {
      workspace.write('manifests/orders.yaml', '# gone\n')
      return ['forget', 'Pipe/orders']
    },
    says: [/is not Orphaned yet/, /pipewright apply/],
  },
  {
    why: 'a ledger that is not there',
    words: async ({ workspace }) => [
      'forget',
      'Pipe/orders',
      '--ledger',
      `sqlite:${workspace.path('none.db')}`,
    ],
    says: [/there is no ledger at/],
  },
]

function lock(key: string): string {
  return `apiVersion: pipewright/v1\nkind: Lock\nmetadata: {name: pipes}\nspec: {pipes: {${key}: ${NOWHERE}}}\n`
}

async function newAndStray(world: Given, serviceId: string): Promise<string> {
  world.workspace.write('manifests/new.yaml', pipeManifest('new'))
  return strayPipe(world, 'by-hand', serviceId)
}

/** What the ledger holds, as rows. */
function recordsOf({ workspace }: Given): readonly object[] {
  using db = new DatabaseSync(workspace.path('ledger.db'), { readOnly: true })
  return db.prepare('SELECT key, version, body FROM record').all()
}

describe('what is refused changes nothing', () => {
  // One world for all: nothing changes it but the rows that are apart.
  let shared: Given
  beforeAll(async () => {
    shared = await settled()
  })
  beforeEach(() => {
    rmSync(shared.workspace.manifests, { recursive: true })
    furnish(shared.workspace, ...PIPES)
  })
  afterAll(() => shared[Symbol.asyncDispose]())

  test.each(REFUSALS)('$why', async ({ words, code = 1, says, isApart = false }) => {
    await using stack = new AsyncDisposableStack()
    const world = isApart ? stack.use(await settled()) : shared
    const args = await words(world)
    const before = recordsOf(world)
    const [pipes, posts] = [world.platform.pipes().length, world.posts()]
    const ended = await world.command(...args)
    expect(ended.stdout).toBe('')
    for (const text of says) expect(ended.stderr).toMatch(text)
    expect(ended.code).toBe(code)
    expect(recordsOf(world)).toEqual(before)
    expect(world.platform.pipes()).toHaveLength(pipes)
    expect(world.posts()).toBe(posts)
  })
})
