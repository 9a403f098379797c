import { corpus } from '../corpus/load.ts'
import { createInputs } from './inputs.ts'
import { tryInput, type Trouble } from './try-input.ts'
import type { Watchdog } from './watchdog.ts'

/** Failing inputs that are printed; more would say no more. */
const SHOWN = 20

/** Milliseconds between two lines of progress. */
const PROGRESS = 10_000

export interface DocumentsResult extends Readonly<Record<Trouble['what'], number>> {
  readonly tried: number
  readonly findings: number
  readonly slowestMs: number
}

/** Reads single files, mutated and made up, the same ones in the same order for the same seed, until the time is over. */
export function fuzzDocuments(
  { seed, until }: { readonly seed: number; readonly until: number },
  { watchdog, say }: { readonly watchdog: Watchdog; readonly say: (text: string) => void },
): DocumentsResult {
  const texts = [...corpus('wrong'), ...corpus('right')].flatMap(({ files }) => Object.values(files))
  const inputs = createInputs(texts, seed)
  const counts: Record<Trouble['what'], number> = { crash: 0, hang: 0, nowhere: 0 }
  let [tried, findings, slowest, shown] = [0, 0, 0, 0]
  let progress = performance.now() + PROGRESS
  while (performance.now() < until) {
    const input = inputs.next()
    watchdog.begins(argumentOf(input))
    const result = tryInput(input)
    tried += 1
    findings += result.findings
    slowest = Math.max(slowest, result.duration)
    for (const trouble of result.troubles) {
      counts[trouble.what] += 1
      shown += 1
      if (shown <= SHOWN) say(wordsOf(trouble, input))
    }
    if (performance.now() < progress) continue
    progress += PROGRESS
    say(`${tried} inputs, ${findings} findings, slowest ${slowest.toFixed(0)} ms, ${JSON.stringify(counts)}`)
  }
  return { tried, findings, slowestMs: Math.round(slowest), ...counts }
}

/** Reads one input. @returns how many troubles it made */
export function fuzzDocument(input: Buffer, say: (text: string) => void): number {
  const { troubles, duration } = tryInput(input)
  for (const trouble of troubles) say(wordsOf(trouble, input))
  say(`${troubles.length} troubles in ${duration.toFixed(0)} ms`)
  return troubles.length
}

function wordsOf({ what, detail }: Trouble, input: Buffer): string {
  return `${what}: ${detail}\n  ${argumentOf(input)}`
}

function argumentOf(input: Buffer): string {
  return `--input ${input.toString('base64')}`
}
