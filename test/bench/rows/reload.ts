import { runChild, type Timed } from '../child.ts'
import { editsOf } from '../edits.ts'
import { median } from '../median.ts'
import { inTurns, type Row } from '../row.ts'

const TIMES = 31
/** Readings until code that is run often is compiled. */
const WARM_UP = 10

/** Read the directory again after one file changed, against listing and looking at each file. */
export const reload: Row = {
  name: 'reload',
  what: 'read them again, one file changed, warm',
  floor: 'list the same tree and stat each file, synchronously, warm',
  unit: 'ms',
  rule: { how: 'times', target: 3 },
  heldFrom: 1_000,
  async measure({ tree }, run) {
    const [floor, subject] = await inTurns(
      run,
      () => runChild<readonly Timed[]>('floor-stat.ts', { dir: tree.dir, times: TIMES }),
      () =>
        runChild<{ again: readonly Again[] }>('load.ts', { dir: tree.dir, edits: editsOf(tree, TIMES, run) }),
    )
    const wrong = subject.again.filter(({ changed }) => changed !== 1)
    return {
      floor: median(floor.slice(WARM_UP).map(({ cpuMs }) => cpuMs)),
      subject: median(subject.again.slice(WARM_UP).map(({ cpuMs }) => cpuMs)),
      notes: {
        'wall, times':
          median(subject.again.slice(WARM_UP).map((one) => one.wallMs)) /
          median(floor.slice(WARM_UP).map((one) => one.wallMs)),
      },
      faults: wrong.map(({ changed }) => `after one edit, ${changed} keys changed`),
    }
  },
}

type Again = Timed & { readonly changed: number }
