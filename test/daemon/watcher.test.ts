import { appendFile, mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../src/daemon/system-clock.ts'
import type { OpenWatch } from '../../src/daemon/watch-places.ts'
import {
  createWatcher,
  type NudgeCause,
  type Watcher,
  type WatcherOptions,
} from '../../src/daemon/watcher.ts'
import type { Event } from '../../src/reconcile/events.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const NEVER = 2 ** 40

let base: string
const open: Watcher[] = []

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'watcher-')))
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((watcher) => watcher.close()))
  await rm(base, { recursive: true, force: true })
})

/** Watches for real, with events alone unless told otherwise: no poll helps. */
async function watching(root: string, more: Partial<WatcherOptions> = {}) {
  const nudges: NudgeCause[] = []
  const events: Event[] = []
  const watcher = await createWatcher({
    root: join(base, root),
    clock: systemClock,
    quietMs: 20,
    noisyLimitMs: 500,
    pollMs: NEVER,
    fullMs: NEVER,
    cheapLook: async () => '',
    onNudge: (cause) => nudges.push(cause),
    emit: (event) => events.push(event),
    ...more,
  })
  open.push(watcher)

  async function quiet(): Promise<void> {
    let seen = -1
    await vi.waitFor(
      () => {
        const before = seen
        seen = nudges.length
        expect(seen).toBe(before)
      },
      { interval: 60, timeout: 5_000 },
    )
  }

  /** Does something, and waits for the nudges that came after it began: at least one. */
  async function nudgesAfter(change: () => Promise<unknown>): Promise<readonly NudgeCause[]> {
    const before = nudges.length
    await change()
    await vi.waitFor(() => expect(nudges.length).toBeGreaterThan(before), { interval: 5, timeout: 3_000 })
    return nudges.slice(before)
  }

  return { watcher, nudges, events, nudgesAfter, quiet }
}

async function write(path: string, text = 'x'): Promise<void> {
  await writeFile(join(base, path), text)
}

/** The name of a tree as git-sync gives it. */
function commit(n: number): string {
  return n.toString(16).padStart(40, 'a')
}

/** Something that watches and never hears anything. */
async function deaf() {
  return { isLost: () => false, close: () => Promise.resolve() }
}

/** Something that fails to watch, several times at once, as chokidar does for each directory. */
function failing(code: string): OpenWatch {
  return async ({ onError }) => {
    for (let n = 0; n < 3; n += 1) onError(Object.assign(new Error(`${code}: no more`), { code }))
    return { isLost: () => false, close: () => Promise.resolve() }
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
  const rows: readonly { why: string; change: () => Promise<unknown> }[] = [
    { why: 'a new file', change: () => write('root/new.yaml') },
    { why: 'a plain write', change: () => write('root/a.yaml', 'other') },
    { why: 'a line at the end', change: () => appendFile(join(base, 'root/sub/b.yaml'), 'more') },
    {
      why: 'the atomic save of an editor: a temporary file takes its place',
      change: async () => {
        await write('root/.a.yaml.tmp', 'other')
        await rename(join(base, 'root/.a.yaml.tmp'), join(base, 'root/a.yaml'))
      },
    },
    {
      why: 'an editor that moves the old file away first',
      change: async () => {
        await rename(join(base, 'root/a.yaml'), join(base, 'root/a.yaml~'))
        await write('root/a.yaml', 'other')
        await rm(join(base, 'root/a.yaml~'))
      },
    },
    {
      why: 'a new folder with files in it',
      change: async () => {
        await mkdir(join(base, 'root/team/deep'), { recursive: true })
        await write('root/team/deep/c.yaml')
      },
    },
    { why: 'a file that is deleted', change: () => rm(join(base, 'root/sub/b.yaml')) },
    { why: 'a folder that is deleted', change: () => rm(join(base, 'root/sub'), { recursive: true }) },
    {
      why: 'a folder that is moved in from elsewhere',
      change: async () => {
        await mkdir(join(base, 'elsewhere'))
        await write('elsewhere/d.yaml')
        await rename(join(base, 'elsewhere'), join(base, 'root/moved'))
      },
    },
  ]

  beforeEach(async () => {
    await mkdir(join(base, 'root/sub'), { recursive: true })
    await write('root/a.yaml')
    await write('root/sub/b.yaml')
  })

  it.each(rows)('nudges after $why', async ({ change }) => {
    const { nudges, nudgesAfter, watcher } = await watching('root')
    expect(watcher.mode()).toBe('recursive')
    expect(nudges).toEqual([])
    expect(await nudgesAfter(change)).toContain('event')
    expect(new Set(nudges)).toEqual(new Set(['event']))
  })

  it('nudges for a file in a folder that appeared while it watched', async () => {
    const { nudgesAfter, quiet } = await watching('root')
    expect(await nudgesAfter(() => mkdir(join(base, 'root/team')))).toContain('event')
    await quiet()
    expect(await nudgesAfter(() => write('root/team/c.yaml'))).toContain('event')
  })

  it('watches a tree below a hidden folder, and leaves hidden names in it alone', async () => {
    await mkdir(join(base, '.hidden/root/.git'), { recursive: true })
    const { nudges, nudgesAfter, quiet } = await watching('.hidden/root')
    await write('.hidden/root/.git/index')
    await write('.hidden/root/.secret.yaml')
    await quiet()
    expect(nudges).toEqual([])
    expect(await nudgesAfter(() => write('.hidden/root/a.yaml'))).toContain('event')
  })

  it('puts thousands of changes at once into few nudges', async () => {
    const { nudges, nudgesAfter, quiet } = await watching('root', { quietMs: 100, noisyLimitMs: 2_000 })
    expect(
      await nudgesAfter(() =>
        Promise.all(Array.from({ length: 2_000 }, (_, n) => write(`root/sub/many-${n}.yaml`))),
      ),
    ).toContain('event')
    await quiet()
    expect(nudges.length).toBeLessThan(10)
  })
})

describe('a link that is swapped', () => {
  it.each([
    {
      why: 'git-sync, whose trees have the names of commits',
      tree: (n: number) => `.worktrees/${commit(n)}`,
    },
    { why: 'a script of one’s own, with trees of any name', tree: (n: number) => `tree-${n}` },
  ])('nudges after each of 40 swaps, the old tree removed: $why', async ({ tree }) => {
    await mkdir(join(base, tree(0), 'manifests'), { recursive: true })
    await symlink(tree(0), join(base, 'current'))
    const { nudges, nudgesAfter, watcher } = await watching('current/manifests')
    expect(watcher.mode()).toBe('parent')
    for (let n = 1; n <= 40; n += 1) {
      await mkdir(join(base, tree(n), 'manifests'), { recursive: true })
      await write(join(tree(n), 'manifests/a.yaml'))
      expect(await nudgesAfter(() => swapLink('current', tree(n)))).toContain('event')
      await rm(join(base, tree(n - 1)), { recursive: true })
    }
    expect(new Set(nudges)).toEqual(new Set(['event']))
  })

  it('nudges after each of 40 swaps of a ConfigMap', async () => {
    await mkdir(join(base, 'mount/..0'), { recursive: true })
    await symlink('..0', join(base, 'mount/..data'))
    await symlink('..data/a.yaml', join(base, 'mount/a.yaml'))
    const { nudgesAfter, watcher } = await watching('mount')
    expect(watcher.mode()).toBe('parent')
    for (let n = 1; n <= 40; n += 1) {
      await mkdir(join(base, `mount/..${n}`))
      await write(`mount/..${n}/a.yaml`, String(n))
      expect(await nudgesAfter(() => swapLink('mount/..data', `..${n}`))).toContain('event')
      await rm(join(base, `mount/..${n - 1}`), { recursive: true })
    }
  })

  it('follows the tree behind a link that is edited by hand, before and after a swap', async () => {
    await mkdir(join(base, 'one'))
    await mkdir(join(base, 'two'))
    await symlink('one', join(base, 'root'))
    const { nudgesAfter, quiet } = await watching('root')
    expect(await nudgesAfter(() => write('one/a.yaml'))).toContain('event')
    await quiet()
    expect(await nudgesAfter(() => swapLink('root', 'two'))).toContain('event')
    await quiet()
    expect(await nudgesAfter(() => write('two/a.yaml'))).toContain('event')
  })

  it('leaves the neighbours of the link alone', async () => {
    await mkdir(join(base, commit(1)))
    await symlink(commit(1), join(base, 'current'))
    const { nudges, nudgesAfter, quiet } = await watching('current')
    await write('neighbour')
    await mkdir(join(base, commit(2)))
    await quiet()
    expect(nudges).toEqual([])
    expect(await nudgesAfter(() => swapLink('current', commit(2)))).toContain('event')
  })
})

describe('a root that comes and goes', () => {
  it('is awaited where its way ends, and watched once it is there', async () => {
    const { nudgesAfter, quiet, watcher, events } = await watching('later/root')
    expect(watcher.mode()).toBe('parent')
    expect(await nudgesAfter(() => mkdir(join(base, 'later')))).toContain('event')
    await quiet()
    expect(await nudgesAfter(() => mkdir(join(base, 'later/root')))).toContain('event')
    await vi.waitFor(() => expect(watcher.mode()).toBe('recursive'))
    await quiet()
    expect(await nudgesAfter(() => write('later/root/a.yaml'))).toContain('event')
    expect(events.map((event) => event.type === 'WatchModeChanged' && event.mode)).toEqual([
      'parent',
      'recursive',
    ])
  })

  it('is watched again after it was removed and made anew, five times', async () => {
    await mkdir(join(base, 'root'))
    const { nudgesAfter, quiet } = await watching('root')
    for (let n = 0; n < 5; n += 1) {
      expect(await nudgesAfter(() => rm(join(base, 'root'), { recursive: true }))).toContain('event')
      await quiet()
      expect(await nudgesAfter(() => mkdir(join(base, 'root')))).toContain('event')
      await quiet()
      expect(await nudgesAfter(() => write('root/a.yaml'))).toContain('event')
    }
  })

  it('is watched again after it was replaced in one go', async () => {
    await mkdir(join(base, 'root'))
    const { nudgesAfter, quiet } = await watching('root')
    for (let n = 0; n < 5; n += 1) {
      expect(
        await nudgesAfter(async () => {
          await rm(join(base, 'root'), { recursive: true })
          await mkdir(join(base, 'root'))
        }),
      ).toContain('event')
      await quiet()
      expect(await nudgesAfter(() => write('root/a.yaml'))).toContain('event')
      await quiet()
    }
  })

  it.each([1, 2, 3, 4, 5])('becomes a link, and is followed (time %i)', async () => {
    await mkdir(join(base, 'root'))
    await mkdir(join(base, 'elsewhere'))
    const { nudgesAfter, quiet, watcher } = await watching('root')
    expect(
      await nudgesAfter(async () => {
        await rm(join(base, 'root'), { recursive: true })
        await symlink('elsewhere', join(base, 'root'))
      }),
    ).toContain('event')
    await vi.waitFor(() => expect(watcher.mode()).toBe('parent'))
    await quiet()
    expect(await nudgesAfter(() => write('elsewhere/a.yaml'))).toContain('event')
  })
})

describe('a watcher that is deaf', () => {
  it('hears of a swapped link from the poll, which says so', async () => {
    await mkdir(join(base, 'one'))
    await mkdir(join(base, 'two'))
    await symlink('one', join(base, 'root'))
    const { nudgesAfter } = await watching('root', { pollMs: 20, open: deaf })
    expect((await nudgesAfter(() => swapLink('root', 'two')))[0]).toBe('poll')
  })
})

describe('what happens while a new watch begins', () => {
  it('is seen: another nudge follows once the watch is there', async () => {
    await mkdir(join(base, 'one'))
    await mkdir(join(base, 'two'))
    await symlink('one', join(base, 'root'))
    const { nudges } = await watching('root', { pollMs: 20, open: deaf })
    await swapLink('root', 'two')
    await vi.waitFor(() => expect(nudges).toEqual(['poll', 'event']))
  })
})

describe('a kernel that has no more to give', () => {
  it.each([
    { code: 'ENOSPC', sysctl: 'fs.inotify.max_user_watches' },
    { code: 'EMFILE', sysctl: 'fs.inotify.max_user_instances' },
  ])('$code: polls instead, and says once which limit to raise', async ({ code, sysctl }) => {
    await mkdir(join(base, 'root'))
    const state = { seen: 'one' }
    const { nudges, events, watcher } = await watching('root', {
      open: failing(code),
      pollMs: 10,
      pollingFullMs: 100,
      cheapLook: async () => state.seen,
    })
    expect(watcher.mode()).toBe('polling')
    expect(events).toEqual([
      { type: 'WatchModeChanged', mode: 'polling', message: expect.stringContaining(sysctl) },
    ])
    await vi.waitFor(() => expect(nudges).toContain('full'))
    state.seen = 'two'
    await vi.waitFor(() => expect(nudges).toContain('poll'))
    expect(events).toHaveLength(1)
  })

  it('reads again after an error of another kind, and goes on watching', async () => {
    await mkdir(join(base, 'root'))
    const { nudges, watcher } = await watching('root', { open: failing('EIO') })
    await vi.waitFor(() => expect(nudges).toEqual(['event']))
    expect(watcher.mode()).toBe('recursive')
  })

  it('polls when watching cannot begin at all', async () => {
    await mkdir(join(base, 'root'))
    const { watcher, events } = await watching('root', {
      open: () => Promise.reject(new Error('no such thing')),
    })
    expect(watcher.mode()).toBe('polling')
    expect(events).toMatchObject([{ message: 'cannot watch (no such thing), polling instead' }])
  })

  it('never asks for events when told to poll', async () => {
    await mkdir(join(base, 'root'))
    const opened = vi.fn<() => Promise<never>>()
    const { watcher } = await watching('root', { mode: 'polling', open: opened })
    expect(watcher.mode()).toBe('polling')
    expect(opened).not.toHaveBeenCalled()
  })
})

describe('closing a watcher', () => {
  it('ends its nudges, and leaves no timer and no watch behind', async () => {
    await mkdir(join(base, 'root'))
    const before = watches()
    const clock = createFakeClock()
    const { nudges, watcher } = await watching('root', { clock, pollMs: 2_000, fullMs: 300_000 })
    expect(watches()).toBeGreaterThan(before)
    await write('root/a.yaml')
    await watcher.close()
    await write('root/b.yaml')
    await clock.advance(900_000)
    expect(nudges).toEqual([])
    expect(clock.pending).toBe(0)
    expect(watches()).toBe(before)
  })

  it('may be asked for twice', async () => {
    await mkdir(join(base, 'root'))
    const { watcher } = await watching('root')
    expect(await Promise.all([watcher.close(), watcher.close()])).toHaveLength(2)
  })
})
