import { MANY_DOCUMENTS } from '../../fuzz/hostile/many-documents.ts'
import { measure } from '../../fuzz/hostile/measure.ts'
import { ONE_DOCUMENT } from '../../fuzz/hostile/one-document.ts'
import { ordinary } from '../../fuzz/hostile/ordinary.ts'
import type { Shape } from '../../fuzz/hostile/text.ts'
import { INPUT, print } from './timed.ts'

/* Reads slow catalogs at a small size, and the slowest again at the full size, beside ordinary manifests. */

const { bytes, sampleBytes, count, tries } = INPUT as {
  bytes: number
  sampleBytes: number
  count: number
  tries: number
}
const SHAPES: Readonly<Record<string, Shape>> = { ...MANY_DOCUMENTS, ...ONE_DOCUMENT }

/** The best of some tries, ms of CPU a byte. */
async function cpuPerByte(shape: Shape, size: number, most: number): Promise<number> {
  const files = shape(size)
  let best = Infinity
  for (let attempt = 0; attempt < most; attempt += 1) {
    const measured = await measure(files)
    best = Math.min(best, measured.cpuMs / measured.bytes)
  }
  return best
}

// What runs for the first time is slow.
await cpuPerByte(ordinary, sampleBytes, 2)
const samples: { readonly name: string; readonly shape: Shape; readonly perByte: number }[] = []
for (const [name, shape] of Object.entries(SHAPES))
  samples.push({ name, shape, perByte: await cpuPerByte(shape, sampleBytes, 1) })
const worst = samples.toSorted((a, b) => b.perByte - a.perByte).slice(0, count)
const measured = []
for (const { name, shape } of worst) {
  // Beside each other, so that a slow moment hits both alike.
  const floor = await cpuPerByte(ordinary, bytes, tries)
  const subject = await cpuPerByte(shape, bytes, tries)
  measured.push({ name, floorMs: floor * bytes, subjectMs: subject * bytes })
}
print({ shapes: samples.length, measured })
