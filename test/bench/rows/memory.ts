import { setTimeout } from 'node:timers/promises'
import { emptyManifests, type Rig, UNLIMITED } from '../rig.ts'
import { inTurns, type Row } from '../row.ts'

/** After the work, until what is left is what stays. */
const SETTLE_MS = 8_000

/** What the manifests cost in memory, once all were read, looked at and are shown. */
export const memory: Row = {
  name: 'memory',
  what: 'resident memory after a full pass over all manifests',
  floor: 'a daemon with one Service and nothing else',
  unit: 'MB',
  rule: { how: 'plus', target: 120 },
  heldFrom: 1_000,
  isSteady: true,
  async measure(rig, run) {
    const [floor, subject] = await inTurns(
      run,
      () => holds(rig, 'nothing'),
      () => holds(rig, 'everything'),
    )
    return {
      floor: floor.rss,
      subject: subject.rss,
      notes: { 'heap after a collection, plus MB': subject.heap - floor.heap },
      faults: [],
    }
  },
}

async function holds(rig: Rig, what: 'nothing' | 'everything') {
  const { platform, paths } = rig
  await platform.reset()
  const args = ['--api-budget', UNLIMITED, '--interval', '1h']
  const isEmpty = what === 'nothing'
  const options = isEmpty ? ({ manifests: emptyManifests(rig), ledger: 'none' } as const) : {}
  await using daemon = await rig.daemon(args, options)
  if (!isEmpty) await platform.untilSaw('a full pass', (saw) => saw.gets >= paths.length)
  await setTimeout(SETTLE_MS)
  // Awaited here, while the daemon still lives.
  return await daemon.memory()
}
