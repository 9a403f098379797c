import { writeFileSync } from 'node:fs'
import { getHeapStatistics } from 'node:v8'

/*
 * Loaded before the daemon (`--import`): notes how much CPU the process has used, every 20 ms, and on SIGUSR2 what it
 * holds after a garbage collection (`--expose-gc`). Written to files that the environment names.
 */

const samples: (readonly [atMs: number, cpuMs: number])[] = []

function now(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}

function sample(): void {
  const { user, system } = process.cpuUsage()
  samples.push([now(), (user + system) / 1_000])
}

const file = process.env['BENCH_PROBE'] ?? ''
setInterval(sample, 20).unref()
process.on('exit', () => {
  sample()
  writeFileSync(`${file}.cpu`, JSON.stringify(samples))
})
process.on('SIGUSR2', () => {
  const before = process.memoryUsage.rss()
  globalThis.gc?.()
  const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage()
  const { total_heap_size: heapTotal } = getHeapStatistics()
  writeFileSync(
    `${file}.memory`,
    JSON.stringify({ before, heapUsed, heapTotal, external, arrayBuffers, rss }),
  )
})
