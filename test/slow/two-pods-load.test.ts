import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { acts, passes, type Pod } from '../kubernetes/pods.ts'
import { startLoaded } from './support/loaded-pods.ts'

/* How often the Kubernetes API is written to, how long a takeover takes, and how much memory both take. RECORDS=10000 is the long run. */

const RECORDS = Number(process.env['RECORDS'] ?? 20)
/** What is in sync is checked so often. */
const INTERVAL_S = Math.ceil(RECORDS / 200)
const TAKEOVER_LIMIT_MS = 30_000

test(
  'a creation takes five writes at most, a quiet pass none but those of the Lease, and a takeover half a minute',
  { timeout: 300_000 + RECORDS * 100 },
  async () => {
    await using stack = new AsyncDisposableStack()
    const loaded = await startLoaded(stack, { records: RECORDS, interval: `${INTERVAL_S}s` })
    const { api, writesPerCreation } = loaded
    const [one, two] = loaded.pods
    // What was found in sync is checked again and again.
    await passes(1_500 * INTERVAL_S)
    const ofRecords = () => api.writes.filter((write) => write.includes('pipewrightrecords')).length
    const [quiet, log] = [ofRecords(), one.program.log().length]
    await passes(3_000 * INTERVAL_S)
    const inQuiet = ofRecords() - quiet
    // On a busy machine the API may be late with a renewal, which is told.
    const lines = one.program
      .log()
      .slice(log)
      .filter(({ msg }) => msg !== 'Lease renewed')
    const memory = [one, two].map(
      (pod) => `${memoryOf(pod, 'VmHWM')} MB at most, ${memoryOf(pod, 'VmRSS')} MB now`,
    )
    const killedAt = performance.now()
    one.program.signal('SIGKILL')
    await acts(two)
    const tookMs = Math.round(performance.now() - killedAt)
    await passes(10_000)
    const after = `${memoryOf(two, 'VmHWM')} MB at most, ${memoryOf(two, 'VmRSS')} MB ten seconds after`
    process.stderr.write(
      `two pods: ${RECORDS} records, ${writesPerCreation.toFixed(2)} writes a creation, ${inQuiet} in ${3 * INTERVAL_S} quiet seconds, takeover in ${tookMs} ms; memory of who acts: ${memory[0]}; of who stands by: ${memory[1]}; after its takeover: ${after}\n`,
    )
    expect(writesPerCreation).toBeLessThanOrEqual(5)
    expect(inQuiet).toBe(0)
    expect(lines).toEqual([])
    expect(tookMs).toBeLessThanOrEqual(TAKEOVER_LIMIT_MS)
  },
)

/** `VmHWM`: the most that it had; `VmRSS`: what it has: MB. */
function memoryOf({ program }: Pod, what: 'VmHWM' | 'VmRSS'): number {
  const said = readFileSync(`/proc/${program.pid}/status`, 'utf8')
  return Math.round(Number(new RegExp(`${what}:\\s+(\\d+)`).exec(said)?.[1]) / 1_024)
}
