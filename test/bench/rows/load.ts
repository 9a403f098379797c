import { runChild, type Timed } from '../child.ts'
import { inTurns, type Row } from '../row.ts'

/** Read and validate the whole directory, against `yaml` making the syntax trees that places are taken from. */
export const load: Row = {
  name: 'load',
  what: 'read and validate all manifests, cold',
  floor: 'yaml making documents of the same bytes, nothing else, cold',
  unit: 'ms',
  rule: { how: 'times', target: 1.4 },
  heldFrom: 1_000,
  async measure({ tree }, run) {
    const [floor, subject] = await inTurns(
      run,
      () => runChild<Timed & { documents: number }>('floor-parse.ts', { dir: tree.dir }),
      () =>
        runChild<Timed & { manifests: number; findings: number }>('load.ts', { dir: tree.dir, edits: [] }),
    )
    const cheapest = await runChild<Timed>('floor-default.ts', { dir: tree.dir })
    const faults: string[] = []
    if (subject.manifests !== tree.manifests)
      faults.push(`${subject.manifests} of ${tree.manifests} manifests were read`)
    if (floor.documents !== tree.manifests)
      faults.push(`the floor read ${floor.documents} of ${tree.manifests} documents`)
    if (subject.findings > 0) faults.push(`${subject.findings} findings in manifests that are right`)
    return {
      floor: floor.wallMs,
      subject: subject.wallMs,
      notes: {
        'CPU of all processes, times': subject.cpuMs / floor.cpuMs,
        'against yaml with its defaults, times': subject.wallMs / cheapest.wallMs,
        'µs a manifest': (subject.wallMs / tree.manifests) * 1_000,
      },
      faults,
    }
  },
}
