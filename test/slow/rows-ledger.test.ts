import { copyFileSync, existsSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { describe, test } from 'vitest'
import { until } from '../support/until.ts'
import type { Live } from '../support/live.ts'
import { createStory, type Story } from './support/story.ts'

/*
 * Row 9: the file of the ledger, or what lies beside it, is harmed while the daemon runs; then the power goes. Either
 * nothing was lost, or the daemon says what it noticed and sends nothing more. Whatever the file still holds is not made again.
 */

/** The files beside the ledger that a journal may be in. */
const JOURNALS = ['-wal', '-journal'] as const

interface Harm {
  readonly what: string
  /** `older` is a copy from when only `early` was there. */
  readonly harm: (ledger: string, older: string) => void
  /** Which of the pipes the file holds afterwards. */
  readonly held: readonly string[]
  /** Whether a process may still start with it. */
  readonly starts: boolean
}

const HARMS: readonly Harm[] = [
  {
    what: 'its log is removed',
    harm: (ledger) => JOURNALS.forEach((suffix) => rmSync(ledger + suffix, { force: true })),
    held: ['early', 'late'],
    starts: true,
  },
  {
    what: 'its log is cut in the middle of its second page',
    harm: (ledger) => onJournals(ledger, (file) => truncateSync(file, 6_000)),
    held: ['early', 'late'],
    starts: true,
  },
  {
    what: 'its log is removed, with the index of it',
    harm: (ledger) => [...JOURNALS, '-shm'].forEach((suffix) => rmSync(ledger + suffix, { force: true })),
    held: ['early', 'late'],
    starts: true,
  },
  { what: 'it is removed', harm: (ledger) => rmSync(ledger), held: [], starts: false },
  { what: 'it is cut to nothing', harm: (ledger) => truncateSync(ledger, 0), held: [], starts: false },
  {
    what: 'an older copy is moved over it',
    harm(ledger, older) {
      copyFileSync(older, `${ledger}.copy`)
      renameSync(`${ledger}.copy`, ledger)
    },
    held: ['early'],
    starts: true,
  },
  {
    what: 'an older copy is written into it',
    harm: (ledger, older) => copyFileSync(older, ledger),
    held: ['early'],
    starts: true,
  },
]

function onJournals(ledger: string, harm: (file: string) => void): void {
  for (const suffix of JOURNALS) if (existsSync(ledger + suffix)) harm(ledger + suffix)
}

/** A daemon with the pipes `early` and `late`, and a copy of its ledger from before `late`. */
async function twoPipes(story: Story): Promise<Live & { readonly older: string }> {
  story.writePipe('early')
  const first = await story.start()
  await first.says('Pipe/early', 'Ready')
  await first.stop()
  const older = `${story.ledger}.older`
  copyFileSync(story.ledger, older)
  const live = await story.start(['--interval', '1s'])
  await live.says('Pipe/early', 'Ready')
  await live.reads(() => story.writePipe('late'))
  await live.says('Pipe/late', 'Ready')
  return { ...live, older }
}

/** Whether the last process noticed that something was done to the ledger, as far as it says so. */
async function noticed(live: Live): Promise<boolean> {
  const said = live.program
    .log()
    .filter(({ level }) => level === 'error' || level === 'fatal' || level === 50)
  const shown = (await live.resource('Pipe/next'))?.message ?? ''
  return /ledger/i.test(shown + JSON.stringify(said))
}

describe.concurrent('row 9: a ledger that is harmed while it is used', () => {
  test.for(HARMS)(
    '$what: nothing that it holds is made again',
    async ({ harm, held, starts }, { expect }) => {
      await using story = await createStory()
      const live = await twoPipes(story)
      harm(story.ledger, live.older)

      story.writePipe('next')
      const next = await until('the next pipe to be dealt with', async () => {
        const resource = await live.resource('Pipe/next')
        return resource?.status === 'Ready' || resource?.status === 'Failed' ? resource : undefined
      })
      const isWell = next.status === 'Ready'
      if (!isWell) {
        expect(await noticed(live)).toBe(true)
        expect(next.reason).toBe('LedgerFailed')
        expect(story.posts('next')).toEqual([])
        // It does not think better of it.
        const looks = story.gets('early').length
        await until('the daemon to go on looking, or not', async () => {
          const shown = await live.resource('Pipe/early')
          return story.gets('early').length >= looks + 3 || shown?.reason === 'LedgerFailed'
        })
        expect(story.posts('next')).toEqual([])
      }
      await live.kill()

      if (!starts) {
        // Nothing is left to know it by; --ledger-init=never is there for that.
        expect(isWell).toBe(false)
        const refused = await story.run(['run', '--listen', '127.0.0.1:0', '--ledger-init', 'never'])
        expect(refused.code).toBe(1)
        expect(refused.stderr).toContain(story.ledger)
        expect(story.posts()).toHaveLength(2)
        return
      }
      const again = await story.start(['--interval', '1s'])
      // A daemon that goes on as if nothing had been has lost nothing.
      const known = isWell ? ['early', 'late', 'next'] : held
      for (const name of known) {
        const shown = await again.says(`Pipe/${name}`, 'Ready')
        expect(shown.pipeId).toBe(story.id(name))
      }
      const looks = story.gets('early').length
      await until('three more looks', () => story.gets('early').length >= looks + 3)
      expect(known.filter((name) => story.posts(name).length > 1)).toEqual([])
      expect(story.posts('next').length).toBeLessThanOrEqual(1)
    },
  )

  test('the file alone, copied as soon as a pipe is Ready, knows it', async ({ expect }) => {
    await using story = await createStory()
    const copy = `${story.ledger}.copy`
    const live = await story.start(['--interval', '1s'])
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const name of names) {
      story.writePipe(name)
      await live.says(`Pipe/${name}`, 'Ready')
    }
    copyFileSync(story.ledger, copy)
    await live.kill()
    for (const suffix of ['-wal', '-shm', '-journal']) rmSync(story.ledger + suffix, { force: true })
    copyFileSync(copy, story.ledger)
    const again = await story.start(['--interval', '1s'])
    for (const name of names) await again.says(`Pipe/${name}`, 'Ready')
    expect(story.posts()).toHaveLength(5)
  })

  test('a harm that comes in the middle of a create, after its bytes went out, keeps the id in its words', async ({
    expect,
  }) => {
    await using story = await createStory()
    const { platform } = story
    const live = await twoPipes(story)
    platform.whenCreated = () => {
      copyFileSync(live.older, `${story.ledger}.copy`)
      renameSync(`${story.ledger}.copy`, story.ledger)
    }
    story.writePipe('next')
    const shown = await until('the create to end', async () => {
      const resource = await live.resource('Pipe/next')
      return resource?.status === 'Failed' || resource?.status === 'Ready' ? resource : undefined
    })
    const id = story.id('next')
    expect(shown.status).toBe('Failed')
    expect(shown.message).toContain(id)
    live.program.signal('SIGTERM')
    expect(await live.program.ended).toBe(1)
    expect(live.program.stdout()).toContain(`pipewright resolve Pipe/next --adopt ${id}`)
    expect(story.posts('next')).toHaveLength(1)
  })
})
