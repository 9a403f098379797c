import { describe, expect, test } from 'vitest'
import { MANY_DOCUMENTS } from '../fuzz/hostile/many-documents.ts'
import { measure } from '../fuzz/hostile/measure.ts'
import { ONE_DOCUMENT } from '../fuzz/hostile/one-document.ts'
import { ordinary } from '../fuzz/hostile/ordinary.ts'

const BYTES = 300_000

/** Times the CPU of ordinary manifests of as many bytes: what is quadratic takes a hundred times as much. */
const MOST = 8

const TRIES = 3

/** The best of a few, or the first that is good enough: a machine that is busy makes each of them slower. */
async function cpuPerByte(files: Parameters<typeof measure>[0], enough = 0): Promise<number> {
  let best = Infinity
  for (let attempt = 0; attempt < TRIES && best >= enough; attempt += 1) {
    const { cpuMs, bytes } = await measure(files)
    best = Math.min(best, cpuMs / bytes)
  }
  return best
}

describe('a catalog made to be slow costs no more than a few times what ordinary manifests of its size do', async () => {
  await measure(ordinary(BYTES))
  const floor = await cpuPerByte(ordinary(BYTES))
  test.each(Object.entries({ ...MANY_DOCUMENTS, ...ONE_DOCUMENT }))('%s', async (_name, shape) => {
    expect((await cpuPerByte(shape(BYTES), MOST * floor)) / floor).toBeLessThan(MOST)
  })
})
