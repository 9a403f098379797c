import { describe, expect, test } from 'vitest'
import { MANY_DOCUMENTS } from '../fuzz/hostile/many-documents.ts'
import { measure } from '../fuzz/hostile/measure.ts'
import { ONE_DOCUMENT } from '../fuzz/hostile/one-document.ts'
import { ordinary } from '../fuzz/hostile/ordinary.ts'

const BYTES = 300_000

/** Times the CPU of ordinary manifests of as many bytes: what is quadratic takes a hundred times as much. */
const MOST = 8

const TRIES = 4

async function cpuPerByte(files: Parameters<typeof measure>[0]): Promise<number> {
  const { cpuMs, bytes } = await measure(files)
  return cpuMs / bytes
}

/** The best of a few, or the first that is good enough: a machine that is busy makes each slower, and the ordinary ones that are measured then. */
async function timesOrdinary(files: Parameters<typeof measure>[0], floor: number): Promise<number> {
  let best = (await cpuPerByte(files)) / floor
  for (let attempt = 1; attempt < TRIES && best >= MOST; attempt += 1) {
    const ordinaryNow = Math.max(floor, await cpuPerByte(ordinary(BYTES)))
    best = Math.min(best, (await cpuPerByte(files)) / ordinaryNow)
  }
  return best
}

describe('a catalog made to be slow costs no more than a few times what ordinary manifests of its size do', async () => {
  await measure(ordinary(BYTES))
  const floors = [await cpuPerByte(ordinary(BYTES)), await cpuPerByte(ordinary(BYTES))]
  test.each(Object.entries({ ...MANY_DOCUMENTS, ...ONE_DOCUMENT }))('%s', async (_name, shape) => {
    expect(await timesOrdinary(shape(BYTES), Math.min(...floors))).toBeLessThan(MOST)
  })
})
