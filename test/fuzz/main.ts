import { parseArgs } from 'node:util'
import { corpus } from '../corpus/load.ts'
import { createInputs } from './inputs.ts'
import { tryInput } from './try-input.ts'
import type { Trouble } from './try-input.ts'
import { startWatchdog } from './watchdog.ts'

/*
 * npm run fuzz -- --minutes N --seed S
 * Bytes of the corpus, mutated, and structures of fast-check, through all of the reading of manifests: no crash, no hang, always
 * a place. Prints each input that fails, as base64 to be given to --input, and ends with 1 if there is one. The same seed makes
 * the same inputs, in the same order.
 */

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    /** One input, in base64, instead of new ones. */
    input: { type: 'string' },
  },
})

/** Failing inputs that are printed; more would say no more. */
const SHOWN = 20

/** Milliseconds between two lines of progress. */
const PROGRESS = 10_000

async function fuzz(minutes: number, seed: number): Promise<number> {
  const watchdog = startWatchdog()
  const texts = [...corpus('wrong'), ...corpus('right')].flatMap(({ files }) => Object.values(files))
  const inputs = createInputs(texts, seed)
  const counts: Record<Trouble['what'], number> = { crash: 0, hang: 0, nowhere: 0 }
  const started = performance.now()
  const end = started + minutes * 60_000
  let tried = 0
  let findings = 0
  let slowest = 0
  let progress = started + PROGRESS
  while (performance.now() < end) {
    const input = inputs.next()
    watchdog.begins(input)
    const result = tryInput(input)
    tried += 1
    findings += result.findings
    slowest = Math.max(slowest, result.duration)
    for (const trouble of result.troubles) {
      counts[trouble.what] += 1
      if (Object.values(counts).reduce((a, b) => a + b) <= SHOWN) show(trouble, input)
    }
    if (performance.now() < progress) continue
    progress += PROGRESS
    say(
      process.stderr,
      `${tried} inputs, ${findings} findings, slowest ${slowest.toFixed(0)} ms, ${JSON.stringify(counts)}`,
    )
  }
  await watchdog.stop()
  const cpu = process.cpuUsage()
  const minutesOfCpu = (cpu.user + cpu.system) / 60_000_000
  say(
    process.stdout,
    JSON.stringify({
      seed,
      tried,
      findings,
      slowestMs: Math.round(slowest),
      cpuMinutes: Number(minutesOfCpu.toFixed(2)),
      ...counts,
    }),
  )
  return Object.values(counts).some((count) => count > 0) ? 1 : 0
}

function say(stream: NodeJS.WritableStream, text: string): void {
  stream.write(`${text}\n`)
}

function show({ what, detail }: Trouble, input: Buffer): void {
  say(process.stderr, `${what}: ${detail}\n  --input ${input.toString('base64')}`)
}

if (values.input === undefined) process.exitCode = await fuzz(Number(values.minutes), Number(values.seed))
else {
  const input = Buffer.from(values.input, 'base64')
  const { troubles, duration } = tryInput(input)
  for (const trouble of troubles) show(trouble, input)
  say(process.stdout, `${troubles.length} troubles in ${duration.toFixed(0)} ms`)
  process.exitCode = troubles.length === 0 ? 0 : 1
}
