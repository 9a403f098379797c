import { parseArgs } from 'node:util'
import { fuzzDocument, fuzzDocuments } from './documents.ts'
import { startWatchdog } from './watchdog.ts'

/*
 * npm run fuzz -- --minutes N --seed S
 * Bytes of the corpus, mutated, and structures of fast-check, through all of the reading of manifests: no crash, no hang, always a
 * place. Prints each input that fails, as it is given to --input; ends with 1 if one failed. The same seed makes the same inputs, in the
 * same order.
 */

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    /** One input, in base64, instead of new ones. */
    input: { type: 'string' },
  },
})

async function fuzz(seed: number, minutes: number): Promise<number> {
  const watchdog = startWatchdog()
  const until = performance.now() + minutes * 60_000
  const documents = fuzzDocuments({ seed, until }, { watchdog, say: warn })
  await watchdog.stop()
  process.stdout.write(`${JSON.stringify({ seed, documents }, null, 2)}\n`)
  return documents.crash + documents.hang + documents.nowhere
}

function warn(text: string): void {
  process.stderr.write(`${text}\n`)
}

const troubles =
  values.input === undefined
    ? await fuzz(Number(values.seed), Number(values.minutes))
    : fuzzDocument(Buffer.from(values.input, 'base64'), warn)
process.exitCode = troubles === 0 ? 0 : 1
