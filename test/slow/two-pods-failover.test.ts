import { describe, expect, test } from 'vitest'
import { epochOf, passes, type Pod } from '../kubernetes/pods.ts'
import { pipeManifest } from '../support/manifests.ts'
import { until } from '../support/until.ts'
import { startLoaded } from './support/loaded-pods.ts'

/*
 * How long nobody acts, with the lease that comes by itself (15 s): from the moment at which something happens to the process that acts
 * until the other one acts, and until its first create arrives, of a manifest that was added in that moment. RUNS=20 is the long run.
 */

const RUNS = Number(process.env['RUNS'] ?? 2)
const RECORDS = Number(process.env['RECORDS'] ?? 1_000)
/** The process that acts renews the Lease so often: the moments are spread over that. */
const RENEWAL_MS = 3_000

const HAPPENS: Readonly<Record<string, (pod: Pod) => void>> = {
  'kill -9': ({ program }) => program.signal('SIGKILL'),
  SIGTERM: ({ program }) => program.signal('SIGTERM'),
  'a cut between it and the API': ({ toApi }) => toApi.set('cut'),
  'silence between it and the API': ({ toApi }) => toApi.set('silent'),
}

const timeout = 180_000 + RUNS * 90_000

test('SIGTERM: another process acts within 3 s, and so does its first create', { timeout }, async () => {
  // The first create has to share the processors with a look at all that is there.
  expect(await failover('SIGTERM')).toBeLessThanOrEqual(3_000)
})

describe.concurrent('the Lease has to run out', () => {
  test.each(['kill -9', 'a cut between it and the API', 'silence between it and the API'])(
    '%s: another process acts within 20 s, and so does its first create',
    { timeout },
    async (what) => {
      expect(await failover(what)).toBeLessThanOrEqual(20_000)
    },
  )
})

/** @returns how long nobody acted at worst, and nothing was created: ms */
async function failover(what: string): Promise<number> {
  await using stack = new AsyncDisposableStack()
  const { workspace, pods, arrivals, creates } = await startLoaded(stack, {
    records: RECORDS,
    interval: '1h',
  })
  let [leader, other] = pods
  const acting: number[] = []
  const creating: number[] = []
  for (let run = 0; run < RUNS; run += 1) {
    await until('one to stand by', () => other.program.stdout().includes('standing by'))
    await passes(RENEWAL_MS + (run * RENEWAL_MS) / RUNS)
    const name = `new-${run}`
    const epoch = epochOf(leader) ?? 0
    const at = Date.now()
    HAPPENS[what]?.(leader)
    workspace.write(`manifests/${name}.yaml`, pipeManifest(name))
    await until('the takeover', () => (epochOf(other) ?? 0) > epoch)
    await until('the create', () => arrivals.has(name))
    acting.push(actsSince(other) - at)
    creating.push((arrivals.get(name) ?? Infinity) - at)
    leader.toApi.set('open')
    await leader.again()
    ;[leader, other] = [other, leader]
  }
  process.stderr.write(
    `failover: ${what}, ${RUNS} runs, ${RECORDS} records: acts after ${worstOf(acting)}, first create after ${worstOf(creating)}\n`,
  )
  expect(creates()).toBe(RECORDS + RUNS)
  return Math.max(...acting, ...creating)
}

/** When it said so: ms since the epoch. */
function actsSince({ program }: Pod): number {
  const line = program.log().findLast(({ msg, is }) => msg === 'Leadership changed' && is === 'acting')
  return Date.parse(String(line?.['time']))
}

function worstOf(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  return `${sorted.at(-1)} ms at worst, ${sorted[Math.floor(sorted.length / 2)]} in the middle (${times.join(' ')})`
}
