import { describe, expect, test } from 'vitest'
import { epochOf, type Pod } from '../kubernetes/pods.ts'
import { pipeManifest } from '../support/manifests.ts'
import { until } from '../support/until.ts'
import { startLoaded } from './support/loaded-pods.ts'

/*
 * The process that acts ends, or loses the API: another one acts, and what was added in that moment is created once. RUNS=20 is the long run.
 */

const RUNS = Number(process.env['RUNS'] ?? 2)
const RECORDS = Number(process.env['RECORDS'] ?? 20)

/** Of a Lease that nobody waits for here, the longest that there is: ms. */
const LONGEST_MS = 600_000
/** Of one that has to run out: ms. */
const LEASE_MS = 6_000

const HAPPENS: Readonly<Record<string, (pod: Pod) => void>> = {
  'kill -9': ({ program }) => program.signal('SIGKILL'),
  SIGTERM: ({ program }) => program.signal('SIGTERM'),
  'a cut between it and the API': ({ toApi }) => toApi.set('cut'),
  'silence between it and the API': ({ toApi }) => toApi.set('silent'),
}

describe.concurrent('failover', () => {
  test('SIGTERM: another process acts long before the Lease runs out', async () => {
    expect(await failover('SIGTERM', LONGEST_MS)).toBe(RECORDS + RUNS)
  })

  test.each(['kill -9', 'a cut between it and the API', 'silence between it and the API'])(
    '%s: another process acts when the Lease has run out',
    async (what) => {
      expect(await failover(what, LEASE_MS)).toBe(RECORDS + RUNS)
    },
  )
})

/** @returns how many creates there were */
async function failover(what: string, leaseMs: number): Promise<number> {
  await using stack = new AsyncDisposableStack()
  const { workspace, pods, arrivals, creates } = await startLoaded(stack, {
    records: RECORDS,
    interval: '1h',
    leaseMs,
  })
  let [leader, other] = pods
  const acting: number[] = []
  const creating: number[] = []
  for (let run = 0; run < RUNS; run += 1) {
    await until('one to stand by', () => other.program.stdout().includes('standing by'))
    // One that has not read what was acted on would hold back what is new.
    await until('it to have read', () => other.program.stdout().includes('Manifests read'))
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
  return creates()
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
