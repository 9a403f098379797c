import { readFileSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { furnish, pipeManifest, SERVICE_ID, OTHER_SERVICE_ID } from '../support/manifests.ts'
import { type Given, given, strayPipe } from './given.ts'

const NOWHERE = '0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a99'

interface Refusal {
  readonly why: string
  /** Of the command; `{orders}` is the id of that pipe, `{stray}` that of one that somebody made by hand. */
  readonly words: string
  /** Manifests that are written before, by their names. */
  readonly files?: Readonly<Record<string, string>>
  /** What else goes before. */
  readonly before?: (given: Given) => unknown
  /** Of the pipe that somebody made by hand. */
  readonly strayIn?: string
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
      /has no create of unknown outcome: it has pipe .*, created at /,
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
).map(([why, words, code, says]): Refusal => ({ why, words, code, says: [says] }))

const NEW = { new: pipeManifest('new') }
const BROKEN = { orders: pipeManifest('orders').replace('brokers:', 'brokrs:') }
const ADOPTS = `policy: {adopt: ${NOWHERE}}`
const GONE = '# gone\n'

const REFUSALS: readonly Refusal[] = [
  ...AT_ONCE,
  {
    why: 'an id that another key holds',
    words: 'adopt Pipe/orders {refunds}',
    says: [/Pipe .* already belongs to Pipe\/refunds/],
  },
  {
    why: 'an id that another key holds, for a key that has none',
    words: 'adopt Pipe/new {REFUNDS}',
    files: NEW,
    says: [/already belongs to Pipe\/refunds/],
  },
  {
    why: 'an id that another manifest is about to adopt',
    words: `adopt Pipe/new ${NOWHERE}`,
    files: { other: pipeManifest('other', { more: ADOPTS }), ...NEW },
    says: [/policy\.adopt at other\.yaml:1 assigns pipe .* to Pipe\/other/],
  },
  {
    why: 'another id than the manifest itself names',
    words: 'adopt Pipe/new {stray}',
    files: { new: pipeManifest('new', { more: ADOPTS }) },
    says: [new RegExp(`policy.adopt at new.yaml:1 assigns pipe ${NOWHERE} to Pipe/new`)],
  },
  {
    why: 'an id that a Lock gives to another key',
    words: `adopt Pipe/new ${NOWHERE}`,
    files: { lock: lock('Pipe/other'), other: pipeManifest('other'), ...NEW },
    says: [/A Lock assigns pipe .* to Pipe\/other/],
  },
  {
    why: 'another id than a Lock gives to the key',
    words: 'adopt Pipe/new {stray}',
    files: { lock: lock('Pipe/new'), ...NEW },
    says: [new RegExp(`A Lock assigns pipe ${NOWHERE} to Pipe/new`)],
  },
  {
    why: 'a pipe of another service',
    words: 'adopt Pipe/new {stray}',
    files: NEW,
    strayIn: OTHER_SERVICE_ID,
    says: [new RegExp(`There is no pipe .* in service analytics \\(${SERVICE_ID}\\)`)],
  },
  {
    why: 'an id that is not there',
    words: `adopt Pipe/new ${NOWHERE}`,
    files: NEW,
    says: [/There is no pipe 0b6c1d1e-.* in service analytics/],
  },
  {
    why: 'a manifest that is unknown, with the nearest name',
    words: 'adopt Pipe/oders {orders}',
    says: [/There is no manifest of Pipe\/oders/, /Did you mean Pipe\/orders\?/],
  },
  {
    why: 'a manifest that has errors',
    words: 'adopt Pipe/orders {orders}',
    files: BROKEN,
    says: [/The manifest of Pipe\/orders has errors; correct them first\. orders\.yaml:\d+/],
  },
  {
    why: 'an adoption without a manifest of the pipe and of its service',
    words: `adopt Pipe/orders ${NOWHERE}`,
    files: { orders: GONE, service: GONE },
    says: [/Pipe\/orders and Service\/analytics have no manifest/],
  },
  {
    why: 'an adoption whose secret is not mounted',
    words: 'adopt Pipe/orders {orders}',
    files: { orders: pipeManifest('orders').replace('key: password', 'key: passwort') },
    says: [/Secret file not found: .*kafka\/passwort/],
  },
  {
    why: 'an adoption whose secret is a credential of the platform',
    words: 'adopt Pipe/orders {orders}',
    before: ({ workspace }) =>
      workspace.write(
        'secrets/kafka/password',
        readFileSync(`${workspace.credentials}/analytics-api/keySecret`, 'utf8'),
      ),
    says: [
      /Secret file cannot be used: .*kafka\/password \(a platform credential, which Pipewright does not send to a data source\)\./,
    ],
  },
  {
    why: 'a platform that refuses the credentials',
    words: 'adopt Pipe/orders {orders}',
    before: ({ workspace }) => workspace.write('credentials/analytics-api/keySecret', 'wrong'),
    says: [/No change was made: the pipe could not be read/, /refused the credentials/],
  },
  {
    why: 'another pipe while the first one exists',
    words: 'adopt Pipe/orders {stray}',
    says: [
      /Pipe\/orders already has pipe .*, which exists/,
      /"pipewright forget Pipe\/orders"/,
      /policy\.adopt: /,
    ],
  },
  {
    why: 'another pipe while the first one is not found, which is not believed yet',
    isApart: true,
    words: 'adopt Pipe/orders {stray}',
    before: ({ platform, pipeId }) => platform.vanish(pipeId('orders')),
    says: [/which was not found, but the loss is not confirmed yet/],
  },
  {
    why: 'resolving what is settled with an id',
    words: 'resolve Pipe/orders --adopt {orders}',
    says: [/Pipe\/orders has no create of unknown outcome: it has pipe/],
  },
  {
    why: 'resolving what was refused in clear words',
    isApart: true,
    words: 'resolve Pipe/new --retry',
    files: NEW,
    before: ({ platform, apply }) => {
      platform.faults.add({ operation: 'createPipe', fault: { type: 'status', status: 422 } })
      return apply()
    },
    says: [/attempt 1 \(intent .*\) created nothing \(.*answered 422.* sends the create again automatically/],
  },
  {
    why: 'forgetting what has a manifest with errors',
    words: 'forget Pipe/orders',
    files: BROKEN,
    says: [/has a manifest at orders\.yaml:1/],
  },
  {
    why: 'forgetting while the file cannot be parsed',
    words: 'forget Pipe/orders',
    files: { orders: 'kind: [' },
    says: [/has a manifest|a manifest of Pipe\/orders/],
  },
  {
    why: 'forgetting from an empty directory',
    words: 'forget Pipe/orders',
    files: { orders: GONE, refunds: GONE, service: GONE },
    says: [/it is unknown whether Pipe\/orders has a manifest/, /is empty, but it had manifests before/],
  },
  {
    why: 'forgetting what was no orphan at the last reconcile: perhaps this is another directory',
    words: 'forget Pipe/orders',
    files: { orders: GONE },
    says: [/is not Orphaned yet/, /pipewright apply/],
  },
  {
    why: 'a ledger that is not there',
    words: 'forget Pipe/orders --ledger sqlite:{ledger}',
    says: [/there is no ledger at/],
  },
]

function lock(key: string): string {
  return `apiVersion: pipewright/v1\nkind: Lock\nmetadata: {name: pipes}\nspec: {pipes: {${key}: ${NOWHERE}}}\n`
}

/** The words of a row, with the ids of its world in them. */
async function wordsOf({ words, strayIn }: Refusal, world: Given): Promise<readonly string[]> {
  const stray = words.includes('{stray}') ? await strayPipe(world, 'by-hand', strayIn) : ''
  return words
    .replace('{stray}', stray)
    .replace('{ledger}', world.workspace.path('none.db'))
    .replace(/\{([a-z]+)\}/, (_, name: string) => world.pipeId(name))
    .replace(/\{([A-Z]+)\}/, (_, name: string) => world.pipeId(name.toLowerCase()).toUpperCase())
    .split(' ')
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

  test.each(REFUSALS)('$why', async (refusal) => {
    const { files = {}, code = 1, says, isApart = false } = refusal
    await using stack = new AsyncDisposableStack()
    const world = isApart ? stack.use(await settled()) : shared
    for (const [name, text] of Object.entries(files)) world.workspace.write(`manifests/${name}.yaml`, text)
    const args = await wordsOf(refusal, world)
    await refusal.before?.(world)
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
