import { describe, expect, test } from 'vitest'
import { MANY_DOCUMENTS } from '../fuzz/hostile/many-documents.ts'
import { ONE_DOCUMENT } from '../fuzz/hostile/one-document.ts'
import { ordinary } from '../fuzz/hostile/ordinary.ts'
import { readCatalog, type Readings } from '../fuzz/hostile/read-catalog.ts'

const BYTES = 300_000

/** Times the CPU of ordinary manifests of as many bytes: what is quadratic takes a hundred times as much. */
const MOST = 8

const TRIES = 4

/** Against a first reading of ordinary ones: the next one looks at the file that changed alone, which can be all of it here. */
function times({ first, again }: Readings, floor: Readings): number {
  return Math.max(first, again) / floor.first
}

/** The best of a few, or the first that is good enough: a machine that is busy makes each slower, and the ordinary ones that are measured then. */
async function timesOrdinary(files: Parameters<typeof readCatalog>[0], floor: Readings): Promise<number> {
  const read = async () => {
    const readings = await readCatalog(files)
    expect(readings.nowhere).toEqual([])
    return readings
  }
  let best = times(await read(), floor)
  for (let attempt = 1; attempt < TRIES && best >= MOST; attempt += 1)
    best = Math.min(best, times(await read(), await readCatalog(ordinary(BYTES))))
  return best
}

describe('a catalog made to be slow costs no more than a few times what ordinary manifests of its size do, read again after a line was added, too', async () => {
  await readCatalog(ordinary(BYTES))
  const floor = await readCatalog(ordinary(BYTES))
  test.each(Object.entries({ ...MANY_DOCUMENTS, ...ONE_DOCUMENT }))('%s', async (_name, shape) => {
    expect(await timesOrdinary(shape(BYTES), floor)).toBeLessThan(MOST)
  })
})
