import { expect, test } from 'vitest'
import type { Catalog, Entry } from '../../src/contract/catalog.ts'
import { withoutManifestSentence } from '../../src/contract/activity.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { ResourceManifest } from '../../src/kinds/manifest.ts'
import type { Profile } from '../../src/kinds/profile.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/profiles.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { createSecretMask } from '../../src/lib/mask/secret-mask.ts'
import { blankRecord, type Intent, type LedgerRecord } from '../../src/plan/record.ts'
import { pipesWithoutManifest } from '../../src/reconcile/gather/pipes-without-manifest.ts'
import { createStateStore } from '../../src/reconcile/state/store.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { recordedPipe } from '../plan/inputs.ts'
import { ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'

const LONG_SECRET = Array.from({ length: 70 }, (_, index) => `k${index}`).join('')

const ID = '0B6F2A91-5C7D-4E38-A1F0-3D9482C7B6E5'

function entryOf(manifest: ResourceManifest, state: Entry['state'] = 'valid'): Entry {
  const key: Key = `${manifest.kind}/${manifest.metadata.name}`
  const position = { file: 'a.yaml', line: 1, column: 1 }
  return { key, state, manifest, stated: undefined, position, digest: '', revision: '', findings: [] }
}

const serviceNamed = (name: string, secret: string) =>
  entryOf({
    apiVersion: 'pipewright/v1',
    kind: 'Service',
    metadata: { name },
    spec: {
      organizationId: ORGANIZATION,
      serviceId: SERVICE_ID,
      credentials: { secretRef: { name: secret } },
    },
  })

const SERVICE = serviceNamed('analytics', 'analytics-api')
const SAME_SERVICE = serviceNamed('zulu', 'other-api')

function pipe(more: Partial<ResourceManifest> = {}, spec: object = {}): Entry {
  return entryOf({
    apiVersion: 'pipewright/v1',
    kind: 'Pipe',
    metadata: { name: 'orders' },
    ...more,
    spec: { service: 'analytics', ...spec },
  })
}

function recordOf(more: object): LedgerRecord {
  const service = { name: 'analytics', organizationId: ORGANIZATION, serviceId: SERVICE_ID.toUpperCase() }
  return { ...blankRecord('Pipe/lost'), service, ...more }
}

interface Known {
  readonly profile?: Profile
  readonly entries?: readonly Entry[]
  readonly locks?: Readonly<Record<string, string>>
  readonly records?: readonly LedgerRecord[]
}

/** What is told of a list that was asked for 40 s ago. */
async function told(
  names: readonly string[],
  { profile = CLICKHOUSE_CLOUD, entries = [], locks = {}, records = [] }: Known,
) {
  const clock = createFakeClock()
  const store = createStateStore({ profile, hashKey: new Uint8Array(32), clock })
  const catalog: Catalog = {
    revision: { id: 'abc', from: 'git' },
    entries: new Map([SERVICE, ...entries].map((entry) => [entry.key, entry])),
    locks: new Map(Object.entries(locks)) as ReadonlyMap<Key, string>, // keys, as written below
    hiddenLocks: [],
    unread: [],
    findings: [],
    deleted: new Set(),
    problem: undefined,
  }
  store.setCatalog(catalog)
  for (const record of records) store.note(record)
  const items = names.map((name, index) => ({ id: index === 0 ? ID.toLowerCase() : `id-${index}`, name }))
  const reply = { requestId: undefined, credential: 'c' }
  const now = clock.monotonic()
  const ask = (secret: string, value: typeof items, at: number) =>
    store.listings.since(`Pipe ${SERVICE_ID.toLowerCase()} ${secret}`, { since: at, now: at }, () =>
      Promise.resolve({ value, ...reply }),
    )
  await ask('analytics-api', items, now)
  if (entries.includes(SAME_SERVICE)) await ask('other-api', [], now + 1)
  await clock.advance(40_000)
  return {
    all: pipesWithoutManifest({
      profile,
      store,
      clock,
      mask: createSecretMask(['Hq7kV2xe9Lm4', LONG_SECRET]),
    }),
    now: clock.now(),
  }
}

const OPEN = { id: 'i', state: 'unknown', openedAt: 0, sendBy: 0, attempt: 1 } as unknown as Intent // no more is looked at

const X = { metadata: { name: 'x' } }
const ELSEWHERE = '11111111-2222-4333-8444-555555555555'
const named = (more: object, key: Key = 'Pipe/lost') => ({
  records: [{ ...recordOf({ platformName: 'orders', ...more }), key }],
})

test.each<[why: string, known: Known, count: number]>([
  ['that nobody knows', {}, 1],
  ['of a record, in whatever case', { records: [recordOf({ remote: recordedPipe(ID) })] }, 0],
  ['that a key had before', { records: [recordOf({ former: { remote: recordedPipe(ID) } })] }, 0],
  ['that a manifest adopts', { entries: [pipe({ ...X, policy: { adopt: ID } })] }, 0],
  ['that a manifest watches', { entries: [pipe(X, { id: ID })] }, 0],
  ['that a Lock names for a manifest', { entries: [pipe(X)], locks: { 'Pipe/x': ID } }, 0],
  ['of such a name, if the create of an alert has no outcome', named({ intent: OPEN }, 'Alert/orders'), 1],
  ['that a Lock names for no manifest', { locks: { 'Pipe/x': ID } }, 1],
  ['whose name a manifest asks for that has none', { entries: [pipe()] }, 0],
  ['of a name in `spec`', { entries: [pipe(X, { name: 'orders' })] }, 0],
  ['of such a name in another service', { entries: [pipe({}, { service: 'other' })] }, 0],
  ['of such a name, if the manifest adopts', { entries: [pipe({ policy: { adopt: ELSEWHERE } })] }, 1],
  [
    'of such a name, if the manifest has another one',
    { entries: [pipe()], ...named({ platformName: undefined, remote: recordedPipe('id-9') }, 'Pipe/orders') },
    1,
  ],
  ['that a create of unknown outcome may have made', named({ intent: OPEN }), 0],
  ['beside a create that failed', named({ intent: { ...OPEN, state: 'failed' } }), 1],
])('a pipe %s', async (_, known, count) => {
  const { all } = await told(['orders'], known)
  expect(all).toMatchObject([{ service: 'analytics', count }])
})

test('of two Services of one platform service, the newest list counts', async () => {
  const { all } = await told(['orders'], { entries: [SAME_SERVICE] })
  expect(all).toMatchObject([{ service: 'zulu', count: 0 }])
})

test('of many the first twenty are named, by their names, with how old the list is', async () => {
  const names = Array.from({ length: 25 }, (_, index) => `p${String(25 - index).padStart(2, '0')}`)
  const { all, now } = await told(names, {})
  const [found] = all ?? []
  expect(found?.pipes.map(({ name }) => name)).toEqual(names.toSorted().slice(0, 20))
  expect(found?.listedAt).toBe(Math.round((now - 40_000) / 1_000) * 1_000)
  const sentence = found && withoutManifestSentence(found)
  expect(sentence).toContain(' and 5 more. "pipewright import --all analytics"')
})

test('a name shows no secret, and nothing that a terminal obeys', async () => {
  const { all } = await told(['a Hq7kV2xe9Lm4 \u001b[31m\n'.padEnd(300, 'x')], {})
  const name = all?.[0]?.pipes[0]?.name ?? ''
  expect(name).not.toMatch(/Hq7kV2xe9Lm4|[\p{Cc}]/u)
  expect(name).toMatch(/^a \S+ \\u\{1b\}\[31m\\nx{1,80}…$/)
})

test.each([
  ['shows no part of a secret, however often it holds it', LONG_SECRET.repeat(6), /^\[secret\]$/],
  ['is cut between characters', `${'x'.repeat(78)}${'😀'.repeat(9)}`, /^x{78}\ufffd…$/],
])('a long name %s', async (_, long, shown) => {
  const { all } = await told([long], {})
  expect(all?.[0]?.pipes[0]?.name).toMatch(shown)
})

test('where the platform does not list, there is nothing to tell', async () => {
  expect((await told(['orders'], { profile: DEFAULT })).all).toBeUndefined()
})
