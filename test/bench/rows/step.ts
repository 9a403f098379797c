import { inTurns, type Row } from '../row.ts'
import { median } from '../median.ts'
import { edit } from './change.ts'

const EDITS = 12

/** A pass with one change in a large directory against one in a directory of a tenth. */
export const step: Row = {
  name: 'step',
  what: 'a pass with one change, from the edit to its request, nothing else to do',
  floor: 'the same among a tenth of the manifests',
  unit: 'ms',
  rule: { how: 'times', target: 1.3 },
  onlyAt: (size, sizes) => size === Math.max(...sizes) && sizes.includes(size / 10),
  async measure(rig, run, rigOf) {
    const small = await rigOf(rig.size / 10)
    const options = { round: 400 + run, edits: EDITS, waiting: false } as const
    const [floor, subject] = await inTurns(
      run,
      () => edit(small, options),
      () => edit(rig, options),
    )
    return {
      floor: median(floor.latencies),
      subject: median(subject.latencies),
      notes: { 'CPU a pass, ms': subject.cpuMs / EDITS, 'CPU a pass among a tenth, ms': floor.cpuMs / EDITS },
      faults: [],
    }
  },
}
