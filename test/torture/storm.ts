import { setTimeout as pause } from 'node:timers/promises'
import type { Runner } from './daemon.ts'
import type { Edits } from './edits.ts'
import { judgeKept } from './judge.ts'
import type { Outages } from './outages.ts'
import type { Journal } from './journal.ts'
import type { Killer } from './killer.ts'
import type { Leaks } from './leaks.ts'
import type { LedgerView } from './ledger-view.ts'
import type { Model } from './model.ts'
import type { Person } from './person.ts'
import type { PlatformUnderTest } from './platform.ts'
import type { Random } from './random.ts'
import type { Scene } from './scene.ts'
import { workInConsole } from './cloud/drift.ts'
import { loseLedger } from './cloud/lost-ledger.ts'
import type { Tree } from './tree.ts'
import { type Mounts, PASSWORD_SECRETS, ROTATED_SECRETS } from './world.ts'
import { scanApi } from './watch.ts'

export interface Parts {
  readonly scene: Scene
  readonly random: Random
  readonly journal: Journal
  readonly leaks: Leaks
  readonly model: Model
  readonly edits: Edits
  readonly tree: Tree
  readonly mounts: Mounts
  readonly platform: PlatformUnderTest
  readonly runner: Runner
  readonly killer: Killer
  readonly ledger: LedgerView
  readonly person: Person
  /** Pipes that were made to vanish behind everybody's back; `at` is ms since the epoch. */
  readonly vanishings: { id: string; platformName: string; at: number }[]
  readonly losses: number[]
  readonly outages: Outages
  /** Work on the directory, one at a time. */
  readonly exclusive: <T>(work: () => Promise<T>) => Promise<T>
  readonly signal: AbortSignal
}

/** Pipes vanish only in runs long enough to be confirmed as missing, which takes more than a minute. */
const VANISH_FROM_MS = 180_000
const VANISH_REST_MS = 90_000
/** A pipe is left alone in its first minute: a 404 then is not believed. */
const VANISH_AGE_MS = 70_000

/** When it ends: ms since the epoch, or after so many batches of edits. */
export interface End {
  at: number
  readonly afterSteps: number
}

/** Faults, kills and edits, all at once. */
export async function storm(parts: Parts, startAt: number, end: End): Promise<void> {
  await Promise.all([
    lives(parts, end),
    editing(parts, end),
    answering(parts, end),
    watching(parts, end),
    meddling(parts, startAt, end),
    hiding(parts, end),
    telling(parts, startAt, end),
    working(parts, end),
  ])
}

async function lives(parts: Parts, end: End): Promise<void> {
  const { killer, ledger, leaks, journal, random, exclusive, tree, scene, losses } = parts
  for (let life = 1; Date.now() < end.at; life += 1) {
    await killer.life(end)
    ledger.drain()
    if (life % 8 === 0) {
      ledger.scan(leaks)
      const records = await ledger.records()
      if (records === undefined && !ledger.cutShort) {
        journal.violate('process', 'the ledger cannot be read after a kill')
      } else if (records !== undefined && losses.length === 0) judgeKept(records, parts)
    }
    if (random.chance(0.05)) await exclusive(() => tree.relayout())
    if (scene.changes && random.chance(0.04)) await loseLedger(parts)
  }
}

async function editing({ edits, model, tree, random, exclusive, journal }: Parts, end: End): Promise<void> {
  for (let step = 1; Date.now() < end.at; step += 1) {
    if (step > end.afterSteps) end.at = Date.now()
    const swap = random.chance(0.08)
    for (let n = swap ? random.below(12) : random.below(3); n >= 0; n -= 1) edits.edit()
    await exclusive(async () => {
      const changes = model.takeChanges()
      if (!swap) return tree.apply(changes)
      journal.note(undefined, 'edit: the whole tree is swapped')
      return tree.swap(changes)
    })
    if (random.chance(0.01)) {
      journal.note(undefined, 'edit: the directory is gone for a moment')
      await exclusive(() => tree.blink(random.between(50, 1_500)))
    }
    await pause(random.between(100, 1_100))
  }
}

async function answering({ person, ledger, killer }: Parts, end: End): Promise<void> {
  while (Date.now() < end.at) {
    await pause(Math.min(5_000, Math.max(0, end.at - Date.now())))
    ledger.drain()
    const records = await ledger.records()
    // What the person writes reaches the disk with the next edit.
    if (records !== undefined) await person.round(records, killer.run, 'busy')
  }
}

/** One line a minute: how far it is. */
async function telling(
  { killer, platform, model, journal }: Parts,
  startAt: number,
  end: End,
): Promise<void> {
  while (Date.now() < end.at) {
    const next = Date.now() + 60_000
    while (Date.now() < Math.min(next, end.at)) await pause(500)
    const minute = Math.round((Date.now() - startAt) / 6_000) / 10
    const { kills } = killer.counts
    process.stdout.write(
      `minute ${minute}: ${kills} kills, ${platform.posts.length} creates, ${model.lineages.length} pipes wanted so far, ${journal.violations.length} violations\n`,
    )
  }
}

/** Looks at all that is shown, in search of secrets. */
async function watching({ killer, leaks, runner, random, model, journal }: Parts, end: End): Promise<void> {
  const commands = [
    ['status'],
    ['status', '-o', 'json'],
    ['history', '-o', 'json', '--limit', '500'],
    ['plan'],
    ['plan', '-o', 'json'],
    ['validate'],
    ['validate', '-o', 'json'],
  ] as const
  for (let round = 1; Date.now() < end.at; round += 1) {
    await pause(Math.min(2_500, Math.max(0, end.at - Date.now())))
    await scanApi(killer.run, leaks, `Pipe/${random.pick(model.lineages).name}`)
    if (round % 8 !== 0) continue
    const { code, stderr } = await runner.command(random.pick(commands))
    if (code === 70 || typeof code === 'string') {
      journal.violate('process', `a command ended with ${code}: ${stderr.slice(0, 500)}`)
    }
  }
}

/** Pipes that exist are out of sight for a while: now one, now all of a service or of a key. */
async function hiding({ outages, random }: Parts, end: End): Promise<void> {
  while (Date.now() < end.at) {
    await pause(Math.min(random.between(1_000, 4_000), Math.max(0, end.at - Date.now())))
    outages.begin(end.at)
  }
}

/** What happens to secrets and pipes behind everybody's back. */
async function meddling(parts: Parts, startAt: number, end: End): Promise<void> {
  const { mounts, random, journal, platform, vanishings } = parts
  while (Date.now() < end.at) {
    await pause(Math.min(random.between(4_000, 12_000), Math.max(0, end.at - Date.now())))
    const what = random.below(4)
    if (what === 0) {
      const name = random.pick(ROTATED_SECRETS)
      await mounts.rotate(name)
      journal.note(undefined, `secret ${name} is rotated`)
    } else if (what === 1) {
      await mounts.unmount(random.pick(PASSWORD_SECRETS))
    } else if (what === 2) {
      await mounts.mountAll()
    } else if (end.at - startAt >= VANISH_FROM_MS && end.at - Date.now() > VANISH_REST_MS) {
      const old = platform.sandbox
        .pipes()
        .filter(({ createdAt }) => Date.now() - Date.parse(createdAt) > VANISH_AGE_MS)
      if (old.length === 0) continue
      // One that vanished before is replaced again only after its hour.
      const again = old.filter(({ name }) => vanishings.some(({ platformName }) => platformName === name))
      const pipe = random.pick(again.length > 0 && random.chance(0.5) ? again : old)
      platform.sandbox.vanish(pipe.id)
      vanishings.push({ id: pipe.id, platformName: pipe.name, at: Date.now() })
      journal.note(pipe.name, `pipe ${pipe.id} vanishes from the platform`)
    }
  }
}

/** Somebody works in the console, where that is to be seen. */
async function working({ scene, model, platform, random, journal }: Parts, end: End): Promise<void> {
  while (scene.changes && Date.now() < end.at) {
    await pause(Math.min(random.between(500, 3_000), Math.max(0, end.at - Date.now())))
    const pipes = platform.sandbox.pipes()
    if (pipes.length === 0) continue
    const pipe = random.pick(pipes)
    const lineage = model.lineage(pipe.name)
    const what = lineage && workInConsole(platform, { lineage, pipe, random })
    if (what !== undefined) journal.note(pipe.name, `console: somebody ${what}`)
  }
}
