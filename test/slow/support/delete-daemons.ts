import { rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Sandbox } from '../../../src/sandbox/sandbox-server.ts'
import { runArgs } from '../../support/manifests.ts'
import { startProgram, urlOf, type Program } from '../../support/process.ts'
import type { Workspace } from '../../support/workspace.ts'
import type { Random } from '../../torture/random.ts'
import { fastClocks } from './fast-clocks.ts'

/* The daemons of the torture of deletions: killed and started again, and at times two at once. */

/** A daemon from when it listened until it was told to end. */
export interface Life {
  readonly number: number
  readonly program: Program
  readonly url: string
  readonly from: number
  until: number
}

export interface Daemons {
  readonly lives: readonly Life[]
  /** One that is left alone. @param speed of its clocks */
  start(speed?: number): Promise<Life | undefined>
  /** Kills and starts, until it is told to stop; then none is there. */
  torture(stopping: AbortSignal): Promise<void>
  allow(life: Life): Promise<void>
}

export const SPEED = 60
const TOKEN = 'admin-token-of-the-torture-0123456789'

export interface DaemonParts {
  readonly workspace: Workspace
  readonly platform: Sandbox
  readonly random: Random
  /** When time began to pass faster: ms since the epoch. */
  readonly since: () => number
}

export function createDaemons({ workspace, platform, random, since }: DaemonParts): Daemons {
  const lives: Life[] = []
  workspace.write('admin-token', TOKEN)
  const more = [
    '--profile',
    'clickhouse-cloud',
    '--max-creates',
    '1000',
    '--log-level',
    'debug',
    '--request-timeout',
    '5m',
    '--shutdown-grace',
    '6m',
    '--admin-token-file',
    workspace.path('admin-token'),
  ]
  const args = runArgs(workspace, platform.url, more)

  async function start(failpoint?: string, speed = SPEED): Promise<Life | undefined> {
    const clocks = speed === 1 ? {} : { ...fastClocks(speed), CLOCK_SINCE: String(since()) }
    const env = { ...clocks, ...(failpoint !== undefined && { PIPEWRIGHT_FAILPOINT: failpoint }) }
    const program = startProgram(args, { env })
    const url = await Promise.race([urlOf(program), program.ended.then(() => undefined)])
    if (url === undefined) return undefined
    const life = { number: lives.length + 1, program, url, from: Date.now(), until: Infinity }
    lives.push(life)
    void program.ended.then(() => (life.until = Math.min(life.until, Date.now())))
    return life
  }

  async function end(life: Life, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    life.until = Math.min(life.until, Date.now())
    life.program.signal(signal)
    const isOver = await Promise.race([life.program.ended.then(() => true), pause(3_000, false)])
    if (!isOver) life.program.signal('SIGKILL')
    await life.program.ended
  }

  async function lifeOf(stopping: AbortSignal): Promise<void> {
    const life = await start(
      random.weighted([
        [8, undefined],
        [1, 'before-delete=kill'],
        [1, 'after-delete=kill'],
        [0.5, 'before-id=kill'],
      ]),
    )
    if (life === undefined) return
    await rest(random.between(2_000, 9_000), [life], stopping)
    let last = life
    if (random.chance(0.2) && life.until === Infinity) {
      // As if this one was frozen, and somebody removed its lock.
      rmSync(workspace.path('ledger.db.lock'), { force: true })
      const second = await start()
      if (second !== undefined) {
        await rest(random.between(1_000, 5_000), [life, second], stopping)
        const [first, other] = random.chance(0.5) ? [life, second] : [second, life]
        await end(first, 'SIGKILL')
        await rest(random.between(0, 3_000), [other], stopping)
        last = other
      }
    }
    await end(last, random.chance(0.7) ? 'SIGKILL' : 'SIGTERM')
    await pause(random.chance(0.1) ? random.between(8_000, 12_000) : random.between(0, 800))
  }

  return {
    lives,
    start: (speed) => start(undefined, speed),
    async torture(stopping) {
      while (!stopping.aborted) await lifeOf(stopping)
    },
    async allow({ url }) {
      // As the command asks the daemon; a process would take too long here.
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ deletions: true })
      const signal = AbortSignal.timeout(5_000)
      await fetch(`${url}/-/allow`, { method: 'POST', headers, body, signal }).catch(() => undefined)
    },
  }
}

async function rest(ms: number, lives: readonly Life[], stopping: AbortSignal): Promise<void> {
  const over = lives.map(({ program }) => program.ended)
  const stopped = new Promise((resolve) => stopping.addEventListener('abort', resolve, { once: true }))
  await Promise.race([pause(ms), stopped, ...over])
}
