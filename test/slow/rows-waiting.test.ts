import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type ExpectStatic } from 'vitest'
import { ALERT, alertManifest, KAFKA_PASSWORD, ANALYTICS, type PipeOptions } from '../support/manifests.ts'
import { until } from '../support/until.ts'
import { ownError } from './support/fake-platform.ts'
import type { Live } from '../support/live.ts'
import { createStory, type Story } from './support/story.ts'
import { lockOf, madeByOthers, WAIT_S, WAITS, waitingFor, type Wait } from './support/waiting.ts'

/* Row 3: what happens while a create waits. Law 10: it is decided after the wait, by what holds then. */

const CORRECTED = { ...ANALYTICS, serviceId: '3d0e6f51-9b7c-4a25-8d13-5c2f7a9e0b66' }
const PAUSE: Wait = WAITS[0]

interface Meanwhile {
  readonly what: string
  /** Which waits it is told for; both unless given. */
  readonly waits?: readonly Wait[]
  /** How the pipe that waits is written. */
  readonly pipe?: PipeOptions
  readonly settings?: readonly string[]
  /** Before the daemon starts. */
  readonly prepare?: (story: Story) => void
  readonly change: (story: Story, live: Live) => void | Promise<void>
  /** The reasons that the pipe may show once it was reconciled; none: it is not shown any more. */
  readonly reasons: readonly string[]
  /** What is put right afterwards, and that it goes on then. */
  readonly after?: (story: Story, live: Live, expect: ExpectStatic) => Promise<void>
}

/** In each of these the create that waits is not to go out. */
const NOT_SENT: readonly Meanwhile[] = [
  {
    what: 'a Lock named the pipe that it is',
    change: (story, live) => {
      const { id } = madeByOthers(story, 'orders', ANALYTICS.serviceId)
      return live.reads(() => story.workspace.write('manifests/pipes.lock.yaml', lockOf({ orders: id })))
    },
    reasons: ['Adopted', 'InSync'],
  },
  {
    what: 'its own manifest named the pipe that it is',
    change: (story, live) => {
      const { id } = madeByOthers(story, 'orders', ANALYTICS.serviceId)
      return live.reads(() => story.writePipe('orders', { policy: { adopt: id } }))
    },
    reasons: ['Adopted', 'InSync'],
  },
  {
    what: 'a file appeared that may hold a Lock and cannot be read',
    change: ({ workspace }, live) =>
      live.reads(() =>
        workspace.write('manifests/pipes.lock.yaml', 'kind: Lock\nspec: {pipes: {Pipe/orders: [\n'),
      ),
    reasons: ['LockUnreadable'],
    async after(story, live, expect) {
      const { id } = madeByOthers(story, 'orders', ANALYTICS.serviceId)
      story.workspace.write('manifests/pipes.lock.yaml', lockOf({ orders: id }))
      expect(await live.says('Pipe/orders', 'Ready')).toMatchObject({ pipeId: id })
    },
  },
  {
    what: 'the create limit was reached',
    settings: ['--max-creates', '3'],
    change: (story, live) =>
      live.reads(() => {
        for (const name of ['more-1', 'more-2', 'more-3', 'more-4']) story.writePipe(name)
      }),
    reasons: ['CreateLimit'],
  },
  {
    what: 'what it depends on was no longer ready',
    // Alerts have a credential, and so a budget, of their own.
    waits: [PAUSE],
    pipe: { policy: { dependsOn: '[Alert/lag]' } },
    prepare({ workspace, platform }) {
      platform.world.alerts.set('alert-1', { ...ALERT })
      const policy = 'policy: {healthyStates: [OK], interval: 1s}\nspec:'
      workspace.write('manifests/lag.yaml', alertManifest('lag', 'alert-1').replace('spec:', policy))
    },
    async change({ platform }, live) {
      platform.world.alerts.set('alert-1', { ...ALERT, state: 'ALERT' })
      await live.says('Alert/lag', 'NotReady')
    },
    reasons: ['DependencyNotReady'],
    async after({ platform }, live, expect) {
      platform.world.alerts.set('alert-1', { ...ALERT })
      await live.says('Pipe/orders', 'Ready')
      expect(platform.posts('orders')).toHaveLength(1)
    },
  },
  {
    what: 'the secret of its source was gone',
    change: ({ workspace }) => rmSync(workspace.path('secrets', 'kafka'), { recursive: true }),
    reasons: ['SecretUnavailable'],
    async after({ platform, workspace }, live, expect) {
      workspace.write('secrets/kafka/password', KAFKA_PASSWORD)
      await live.says('Pipe/orders', 'Ready')
      expect(platform.posts('orders')).toHaveLength(1)
    },
  },
  {
    what: 'its manifest was suspended',
    change: (story, live) => {
      const suspend = '{reason: not yet, until: "2099-01-01T00:00:00Z"}'
      return live.reads(() => story.writePipe('orders', { policy: { suspend } }))
    },
    reasons: ['Suspended'],
  },
  {
    what: 'its manifest had errors',
    change: ({ workspace }, live) =>
      live.reads(() =>
        workspace.write('manifests/orders.yaml', 'kind: Pipe\nmetadata: {name: orders}\nspec: {x: 1}\n'),
      ),
    reasons: ['InvalidManifest'],
  },
  {
    what: 'its manifest was removed',
    change: ({ workspace }, live) => live.reads(() => rmSync(join(workspace.manifests, 'orders.yaml'))),
    reasons: ['ManifestVanishing'],
  },
]

const rows = (table: readonly Meanwhile[]) =>
  table.flatMap((row) => (row.waits ?? WAITS).map((wait) => ({ ...row, wait })))

describe.concurrent('row 3: while a create waited,', () => {
  test.for(rows(NOT_SENT))('$what: nothing is sent ($wait)', async (row, { expect }) => {
    await using story = await createStory()
    const { platform } = story
    row.prepare?.(story)
    const live = await waitingFor(story, row.wait, () => story.writePipe('orders', row.pipe), row.settings)
    await row.change(story, live)
    expect(platform.posts('orders'), 'the change came too late for this test').toEqual([])
    const settled = await until(`orders to be sent, or to say ${row.reasons.join(' or ')}`, async () => {
      const shown = await live.resource('Pipe/orders')
      const isSettled = shown === undefined || row.reasons.includes(shown.reason)
      return platform.posts('orders').length > 0 || (isSettled && (await nobodyWaits(live)))
    })
    expect(settled).toBe(true)
    expect(platform.posts('orders').map(({ serviceId }) => serviceId)).toEqual([])
    await row.after?.(story, live, expect)
    expect(platform.world.named('orders').length).toBeLessThanOrEqual(1)
  })

  test.for(WAITS)(
    'its Service was corrected to another serviceId: it is made there, and only there (%s)',
    async (wait, { expect }) => {
      await using story = await createStory([ANALYTICS, { ...CORRECTED, name: 'corrected' }])
      rmSync(join(story.workspace.manifests, 'service-corrected.yaml'))
      const { platform } = story
      const names = wait === PAUSE ? ['a', 'b', 'c', 'd', 'e', 'f', 'g'] : ['a', 'b']
      const live = await waitingFor(story, wait, () => {
        for (const name of names) story.writePipe(name)
      })
      await live.reads(() => story.writeService(CORRECTED))
      const seen = platform.posts().length
      for (const name of names) {
        await until(`${name} to be made`, () => platform.world.named(name).length > 0)
      }
      const wrong = platform
        .posts()
        .slice(seen)
        .filter(({ serviceId }) => serviceId !== CORRECTED.serviceId)
      expect(wrong.map(({ text }) => text.slice(0, 12))).toEqual([])
      for (const name of names) await live.says(`Pipe/${name}`, 'Ready')
      expect(platform.world.pipes).toHaveLength(names.length + 1)
    },
  )

  test.for(WAITS)(
    'a secret of its source was rotated: the new value is sent (%s)',
    async (wait, { expect }) => {
      await using story = await createStory()
      const { platform } = story
      const live = await waitingFor(story, wait, () => story.writePipe('orders'))
      story.workspace.write('secrets/kafka/password', 'planted-password-of-later')
      expect(platform.posts('orders'), 'the change came too late for this test').toEqual([])
      await live.says('Pipe/orders', 'Ready')
      expect(platform.posts('orders').map(({ text }) => text.includes('planted-password-of-later'))).toEqual([
        true,
      ])
      expect(live.program.stdout()).not.toContain('planted-')
      // What was sent is what is recorded: nothing counts as rotated afterwards.
      await live.stop()
      const again = await story.start(['--interval', '1s'])
      const { id } = platform.world.pipe('orders')
      await until('three more looks', () => platform.gets(id).length >= 3)
      expect((await again.resource('Pipe/orders'))?.reason).not.toBe('SecretRotated')
    },
  )

  test('an outdated decision gives its place back at once: the next in line takes it', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    const live = await waitingFor(story, 'the budget has no place', () => {
      story.writePipe('a-first')
      story.writePipe('b-second')
    })
    const suspend = '{reason: not yet, until: "2099-01-01T00:00:00Z"}'
    await live.reads(() => story.writePipe('a-first', { policy: { suspend } }))
    await live.says('Pipe/b-second', 'Ready')
    const [warm, second] = platform.posts()
    expect(platform.posts()).toHaveLength(2)
    // One place in each such time: the first that was free, and not the next.
    expect((second?.at ?? Infinity) - (warm?.at ?? 0)).toBeLessThan((2 * WAIT_S - 1) * 1_000)
    await live.says('Pipe/a-first', 'Suspended')
  })

  test('the pipe that it was to replace came back: nothing is sent, and it is kept', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    const names = ['p0', 'p1', 'p2', 'p3']
    for (const name of names) story.writePipe(name)
    await story.created(names)
    const live = await story.start(['--interval', '2s'], { speed: 5 })
    for (const name of names) await live.says(`Pipe/${name}`, 'Ready')
    const { id } = platform.world.pipe('p0')
    await until('each to be seen', () =>
      platform.world.pipes.every((pipe) => platform.gets(pipe.id).length > 0),
    )
    const misses = () => platform.gets(id).filter(({ status }) => status === 404).length
    let paused = false
    let pausing = false
    platform.decide = (request) => {
      if (request.operation !== 'getPipe') return undefined
      if (request.id === id && misses() === 2 && !paused) {
        // The third miss comes back when the pause has begun: what it leads to has to wait.
        pausing = true
        return { before: () => until('the pause', () => paused) }
      }
      if (request.id === id || !pausing || paused) return undefined
      paused = true
      return ownError(429, { 'Retry-After': '40' })
    }
    platform.world.hidden.add(id)
    await until('the pause', () => paused, 60_000)
    await until('the third miss', () => misses() === 3)
    platform.world.hidden.clear()
    expect(platform.posts()).toHaveLength(4)
    const looks = platform.gets(id).length
    await until(
      'three more looks, or a create',
      () => platform.posts().length > 4 || platform.gets(id).length >= looks + 3,
      60_000,
    )
    expect(platform.posts()).toHaveLength(4)
    expect(await live.says('Pipe/p0', 'Ready')).toMatchObject({ pipeId: id })
  })
})

/** Whether no request waits for a place, so that whatever waited has been decided. */
async function nobodyWaits({ url }: Live): Promise<boolean> {
  const { budgets } = (await (await fetch(`${url}/api/v1/overview`)).json()) as {
    readonly budgets: readonly { readonly waiting: number; readonly pausedForMs: number }[]
  }
  return budgets.every(({ waiting, pausedForMs }) => waiting === 0 && pausedForMs === 0)
}
