import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/daemon/system-clock.ts'
import {
  createWatcher,
  type TriggerCause,
  type Watcher,
  type WatcherOptions,
} from '../../src/daemon/watcher.ts'
import { sleep } from '../../src/lib/clock.ts'
import type { Event } from '../../src/contract/events.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { folderForTest } from '../support/folders.ts'

const NEVER = 2 ** 40

let base: string
const open: Watcher[] = []

beforeEach(async () => {
  base = folderForTest()
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((watcher) => watcher.close()))
})

/** Watches for real, with events alone unless told otherwise: no walk helps. */
async function watching(root: string, more: Partial<WatcherOptions> = {}) {
  const triggers: TriggerCause[] = []
  const events: Event[] = []
  const watcher = await createWatcher({
    root: join(base, root),
    clock: systemClock,
    quietMs: 20,
    noisyLimitMs: 500,
    walkMs: NEVER,
    fullMs: NEVER,
    onTrigger: (cause) => triggers.push(cause),
    emit: (event) => events.push(event),
    ...more,
  })
  open.push(watcher)

  async function quiet(): Promise<void> {
    for (let seen = -1; seen !== triggers.length; await setTimeout(60)) seen = triggers.length
  }

  /** Does something, and waits for the triggers that came after it began: at least one. */
  async function triggersAfter(change: () => Promise<unknown>): Promise<readonly TriggerCause[]> {
    const before = triggers.length
    await change()
    await expect.poll(() => triggers.length, { interval: 5 }).toBeGreaterThan(before)
    return triggers.slice(before)
  }

  return { watcher, triggers, events, triggersAfter, quiet }
}

async function write(path: string, text = 'x'): Promise<void> {
  await writeFile(join(base, path), text)
}

/** The name of a tree as git-sync gives it. */
function commit(n: number): string {
  return n.toString(16).padStart(40, 'a')
}

async function deaf() {
  return () => Promise.resolve()
}

/** Something that fails to watch, several times at once, as chokidar does for each directory. */
function failing(code: string): NonNullable<WatcherOptions['listen']> {
  return async (_paths, onEvent) => {
    for (let n = 0; n < 3; n += 1) onEvent(Object.assign(new Error(`${code}: no more`), { code }))
    return () => Promise.resolve()
  }
}

/** Watches that the kernel keeps for this process. */
function watches(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'FSEventWrap').length
}

async function swapLink(link: string, target: string): Promise<void> {
  await symlink(target, join(base, `${link}.tmp`))
  await rename(join(base, `${link}.tmp`), join(base, link))
}

describe('a plain tree', () => {
  const rows: Readonly<Record<string, () => Promise<unknown>>> = {
    'a new file': () => write('root/new.yaml'),
    async 'the atomic save of an editor: a temporary file takes its place'() {
      await write('root/.a.yaml.tmp', 'other')
      await rename(join(base, 'root/.a.yaml.tmp'), join(base, 'root/a.yaml'))
    },
    async 'a new folder with files in it'() {
      await mkdir(join(base, 'root/team/deep'), { recursive: true })
      await write('root/team/deep/c.yaml')
    },
    'a folder that is deleted': () => rm(join(base, 'root/sub'), { recursive: true }),
    async 'a folder that is moved in from elsewhere'() {
      await mkdir(join(base, 'elsewhere'))
      await write('elsewhere/d.yaml')
      await rename(join(base, 'elsewhere'), join(base, 'root/moved'))
    },
  }

  beforeEach(async () => {
    await mkdir(join(base, 'root/sub'), { recursive: true })
    await write('root/a.yaml')
    await write('root/sub/b.yaml')
  })

  it.each(Object.entries(rows))('triggers after %s', async (_why, change) => {
    const { triggers, triggersAfter, watcher } = await watching('root')
    expect(watcher.mode()).toBe('recursive')
    expect(triggers).toEqual([])
    expect(await triggersAfter(change)).toContain('event')
    expect(new Set(triggers)).toEqual(new Set(['event']))
  })

  it('triggers for a file in a folder that appeared while it watched', async () => {
    const { triggersAfter, quiet } = await watching('root')
    expect(await triggersAfter(() => mkdir(join(base, 'root/team')))).toContain('event')
    await quiet()
    expect(await triggersAfter(() => write('root/team/c.yaml'))).toContain('event')
  })

  it('watches a tree below a hidden folder, and leaves hidden names in it alone', async () => {
    await mkdir(join(base, '.hidden/root/.git'), { recursive: true })
    const { triggers, triggersAfter, quiet } = await watching('.hidden/root')
    await write('.hidden/root/.git/index')
    await write('.hidden/root/.secret.yaml')
    await quiet()
    expect(triggers).toEqual([])
    expect(await triggersAfter(() => write('.hidden/root/a.yaml'))).toContain('event')
  })
})

describe('a link that is swapped', () => {
  const current = { link: 'current', root: 'current/manifests' }
  it.each(
    Object.entries({
      'git-sync, whose trees have the names of commits': {
        ...current,
        tree: (n: number) => `.worktrees/${commit(n)}`,
      },
      'a script of one’s own, with trees of any name': { ...current, tree: (n: number) => `tree-${n}` },
      'a ConfigMap volume': { link: 'mount/..data', root: 'mount', tree: (n: number) => `mount/..g${n}` },
    }),
  )('triggers after each of 12 swaps, the old tree removed: %s', async (_why, { link, root, tree }) => {
    const targetOf = (n: number) => relative(dirname(link), tree(n))
    await mkdir(join(base, tree(0), 'manifests'), { recursive: true })
    await symlink(targetOf(0), join(base, link))
    const { triggers, triggersAfter, watcher, quiet } = await watching(root)
    expect(watcher.mode()).toBe('parent')
    const held = watches()
    for (let n = 1; n <= 12; n += 1) {
      await mkdir(join(base, tree(n), 'manifests'), { recursive: true })
      await write(join(tree(n), 'manifests/a.yaml'))
      expect(await triggersAfter(() => swapLink(link, targetOf(n)))).toContain('event')
      await rm(join(base, tree(n - 1)), { recursive: true })
    }
    expect(new Set(triggers)).toEqual(new Set(['event']))
    await quiet()
    expect(watches()).toBe(held)
  })

  it('follows the tree behind a link that is edited by hand, before and after a swap', async () => {
    await mkdir(join(base, 'one'))
    await mkdir(join(base, 'two'))
    await symlink('one', join(base, 'root'))
    const { triggersAfter, quiet } = await watching('root')
    expect(await triggersAfter(() => write('one/a.yaml'))).toContain('event')
    await quiet()
    expect(await triggersAfter(() => swapLink('root', 'two'))).toContain('event')
    await quiet()
    expect(await triggersAfter(() => write('two/a.yaml'))).toContain('event')
  })
})

describe('a root that comes and goes', () => {
  it('is awaited where its way ends, and watched once it is there', async () => {
    const { triggersAfter, quiet, watcher, events } = await watching('later/root')
    expect(watcher.mode()).toBe('parent')
    expect(await triggersAfter(() => mkdir(join(base, 'later')))).toContain('event')
    await quiet()
    expect(await triggersAfter(() => mkdir(join(base, 'later/root')))).toContain('event')
    await expect.poll(() => watcher.mode()).toBe('recursive')
    await quiet()
    expect(await triggersAfter(() => write('later/root/a.yaml'))).toContain('event')
    expect(events.map((event) => event.type === 'WatchModeChanged' && event.mode)).toEqual([
      'parent',
      'recursive',
    ])
  })

  it.each([1, 2])('becomes a link, and is followed (time %i)', async () => {
    await mkdir(join(base, 'root'))
    await mkdir(join(base, 'elsewhere'))
    const { triggersAfter, quiet, watcher } = await watching('root')
    expect(
      await triggersAfter(async () => {
        await rm(join(base, 'root'), { recursive: true })
        await symlink('elsewhere', join(base, 'root'))
      }),
    ).toContain('event')
    await expect.poll(() => watcher.mode()).toBe('parent')
    await quiet()
    expect(await triggersAfter(() => write('elsewhere/a.yaml'))).toContain('event')
  })
})

it('a deaf watcher hears of a swapped link from the poll, and again from the new watch', async () => {
  await mkdir(join(base, 'one'))
  await mkdir(join(base, 'two'))
  await symlink('one', join(base, 'root'))
  const { triggers } = await watching('root', { walkMs: 20, listen: deaf })
  await swapLink('root', 'two')
  await expect.poll(() => triggers.length).toBeGreaterThan(1)
  expect(triggers).toEqual(['poll', 'event'])
})

describe('a kernel that has no more to give', () => {
  it.each([
    { code: 'ENOSPC', sysctl: 'fs.inotify.max_user_watches' },
    { code: 'EMFILE', sysctl: 'fs.inotify.max_user_instances' },
  ])('$code: polls instead, and says once which limit to raise', async ({ code, sysctl }) => {
    await mkdir(join(base, 'root'))
    const state = { seen: 'one' }
    const { triggers, events, watcher } = await watching('root', {
      listen: failing(code),
      walkMs: 10,
      pollingFullMs: 100,
      walk: async () => state.seen,
    })
    expect(watcher.mode()).toBe('polling')
    expect(events).toEqual([
      { type: 'WatchModeChanged', mode: 'polling', message: expect.stringContaining(sysctl) },
    ])
    await expect.poll(() => triggers).toContain('full')
    state.seen = 'two'
    await expect.poll(() => triggers).toContain('poll')
    expect(events).toHaveLength(1)
  })

  it('reads again after an error of another kind, and goes on watching', async () => {
    await mkdir(join(base, 'root'))
    const { triggers, watcher } = await watching('root', { listen: failing('EIO') })
    await expect.poll(() => triggers).toEqual(['event'])
    expect(watcher.mode()).toBe('recursive')
  })
})

/** Watches a tree that is only a text, on a clock that stands still, and hears what the test says. */
async function driven(more: Partial<WatcherOptions> = {}) {
  const clock = createFakeClock()
  const disk = { text: 'one', tookMs: 0, walks: 0, hear: (_error?: unknown): void => undefined, opened: 0 }
  const triggers: (readonly [number, TriggerCause])[] = []
  const watcher = await createWatcher({
    root: join(base, 'nowhere'),
    clock,
    async walk() {
      disk.walks += 1
      const { text, tookMs } = disk
      if (tookMs > 0) await sleep(clock, tookMs, new AbortController().signal)
      return text
    },
    async listen(_paths, onEvent) {
      disk.hear = onEvent
      disk.opened += 1
      return () => Promise.resolve()
    },
    onTrigger: (cause) => triggers.push([clock.monotonic(), cause]),
    emit: () => undefined,
    ...more,
  })
  open.push(watcher)
  /** Something that does not touch the disk may take its time: the paths to watch are read from the real one. */
  const advance = async (ms: number) => {
    for (const end = clock.monotonic() + ms; clock.monotonic() < end; await setTimeout(1)) {
      await clock.advance(Math.min(1_000, end - clock.monotonic()))
    }
  }
  return { clock, disk, triggers, watcher, advance }
}

describe('a walk', () => {
  it('that sees what no event announced makes a trigger once it is quiet', async () => {
    const { disk, triggers, advance } = await driven()
    await advance(500)
    disk.text = 'two'
    await advance(749)
    expect(triggers).toEqual([])
    await advance(1)
    expect(triggers).toEqual([[1_250, 'poll']])
  })

  it('that sees another commit and the same files blames nobody', async () => {
    const { disk, triggers, advance } = await driven()
    disk.text = 'one 0abc'
    await advance(5_000)
    expect(triggers).toEqual([[1_250, 'event']])
  })

  it('that ended too late for the reading makes another one, and blames nobody', async () => {
    const { disk, triggers, advance } = await driven()
    disk.tookMs = 200
    disk.text = 'two'
    disk.hear()
    await advance(1_000)
    expect(triggers).toEqual([
      [250, 'event'],
      [575, 'event'],
    ])
  })

  it('comes every second while it is cheap, and takes a hundredth of the time when it is not', async () => {
    const { disk, advance } = await driven()
    await advance(10_000)
    expect(disk.walks).toBe(11)
    disk.tookMs = 100
    await advance(101_000)
    expect(disk.walks).toBe(21)
    disk.tookMs = 10_000
    await advance(400_000)
    expect(disk.walks).toBeLessThan(33)
  })

  it('is not repeated while one hangs; events go on', async () => {
    const { disk, triggers, advance } = await driven()
    disk.tookMs = NEVER
    await advance(60_000)
    disk.hear()
    await advance(60_000)
    expect([disk.walks, triggers]).toEqual([2, [[60_250, 'event']]])
  })

  it('sees that files are still being written, where there are no events', async () => {
    const { disk, triggers, advance } = await driven()
    disk.hear(Object.assign(new Error('no more'), { code: 'ENOSPC' }))
    await advance(300)
    for (let n = 0; n < 20; n += 1) {
      disk.text = `${n}`
      await advance(100)
    }
    await advance(400)
    const polls = triggers.filter(([, cause]) => cause === 'poll')
    expect(polls).toHaveLength(1)
    expect(polls[0]?.[0]).toBeGreaterThan(2_100)
  })
})

it('thousands of changes at once make few triggers', async () => {
  const { disk, triggers, advance } = await driven()
  for (let n = 0; n < 2_000; n += 1) {
    disk.hear()
    if (n % 100 === 0) await advance(100)
  }
  await advance(60_000)
  expect(triggers.map(([, cause]) => cause)).toEqual(['event'])
})

describe('full readings', () => {
  it('come every five minutes in any case', async () => {
    const { triggers, advance } = await driven()
    await advance(901_000)
    expect(triggers).toEqual([
      [300_000, 'full'],
      [600_000, 'full'],
      [900_000, 'full'],
    ])
  })

  it('let an event go first that waits for quiet', async () => {
    const { disk, triggers, advance } = await driven()
    await advance(299_900)
    disk.hear()
    await advance(3_000)
    expect(triggers.map(([, cause]) => cause)).toEqual(['event', 'full'])
  })
})

/** How often the watcher began to listen, later: it reads the paths to watch from the disk, which takes its own time. */
function openedLater({ disk, advance }: Awaited<ReturnType<typeof driven>>): () => Promise<number> {
  return async () => {
    await advance(5_000)
    return disk.opened
  }
}

describe('a watcher that may be deaf listens anew', () => {
  it('when a walk found what it had not heard of', async () => {
    const driving = await driven()
    driving.disk.text = 'two'
    await expect.poll(openedLater(driving)).toBe(2)
  })

  it('when so much happened at once that the kernel may have dropped some of it', async () => {
    const driving = await driven()
    const { disk, advance } = driving
    for (let n = 0; n < 5_000; n += 1) disk.hear()
    await advance(5_000)
    expect(disk.opened).toBe(1)
    for (let n = 0; n < 5_001; n += 1) disk.hear()
    await expect.poll(openedLater(driving)).toBe(2)
  })
})

describe('closing a watcher', () => {
  it('ends its triggers, and leaves no timer and no watch behind', async () => {
    await mkdir(join(base, 'root'))
    const before = watches()
    const clock = createFakeClock()
    const { triggers, watcher } = await watching('root', { clock, walkMs: 2_000, fullMs: 300_000 })
    expect(watches()).toBeGreaterThan(before)
    await write('root/a.yaml')
    await watcher.close()
    await write('root/b.yaml')
    await clock.advance(900_000)
    expect(triggers).toEqual([])
    expect(clock.pending).toBe(0)
    expect(watches()).toBe(before)
  })
})
