import { runChild } from '../child.ts'
import type { Row } from '../row.ts'

/** What a size stands for here: as many thousands of bytes as there are manifests in the other rows. */
const BYTES_EACH = 1_000

/** Bytes at which all catalogs are compared, to find the slowest. */
const SAMPLE_BYTES = 100_000
const SAMPLE_BYTES_OF_LARGE = 1_000_000

interface Answer {
  readonly shapes: number
  readonly measured: readonly {
    readonly name: string
    readonly floorMs: number
    readonly subjectMs: number
  }[]
}

/** A catalog made to be slow, against ordinary manifests of as many bytes: both read from memory, in one process, warm. */
export const hostile: Row = {
  name: 'hostile',
  what: 'read the slowest of the catalogs that are made to be slow; CPU time, of as many KB',
  floor: 'read as many bytes of ordinary manifests',
  unit: 'ms',
  rule: { how: 'times', target: 3 },
  heldFrom: 1_000,
  runs: 1,
  async measure({ size }) {
    const bytes = size * BYTES_EACH
    const isLarge = bytes > SAMPLE_BYTES_OF_LARGE
    const { shapes, measured } = await runChild<Answer>('hostile.ts', {
      bytes,
      sampleBytes: isLarge ? SAMPLE_BYTES_OF_LARGE : SAMPLE_BYTES,
      count: isLarge ? 3 : 6,
      tries: isLarge ? 1 : 3,
    })
    const times = (of: Answer['measured'][number]) => of.subjectMs / of.floorMs
    const [slowest] = measured.toSorted((a, b) => times(b) - times(a))
    if (slowest === undefined) throw new Error('no catalog was measured')
    return {
      floor: slowest.floorMs,
      subject: slowest.subjectMs,
      notes: {
        'catalogs that were compared': shapes,
        ...Object.fromEntries(measured.map((each) => [`"${each.name}", times`, times(each)])),
      },
      faults: [],
    }
  },
}
