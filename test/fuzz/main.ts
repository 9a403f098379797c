import { parseArgs } from 'node:util'
import { fuzzCatalogs } from './catalogs.ts'
import { fuzzDocument, fuzzDocuments } from './documents.ts'
import { recipeIn } from './hostile/random-catalog.ts'
import { startWatchdog } from './watchdog.ts'

/*
 * npm run fuzz -- --minutes N --seed S
 * Half of the time for documents: bytes of the corpus, mutated, and structures of fast-check, through all of the reading of
 * manifests: no crash, no hang, always a place. The other half for catalogs that are made to be slow: they take no more than a few
 * times the CPU of ordinary manifests of as many bytes, nor does one more reading after a small change. Prints each input that
 * fails, as it is given to --input or --catalog, and at the end the slowest one; ends with 1 if one failed. The same seed makes the
 * same inputs, in the same order; of catalogs, those that are suspiciously slow come once more, larger.
 */

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    /** One input, in base64, instead of new ones. */
    input: { type: 'string' },
    /** One catalog, as SEED:NUMBER:BYTES, instead of new ones. */
    catalog: { type: 'string' },
  },
})

async function fuzz(seed: number, minutes: number): Promise<number> {
  const watchdog = startWatchdog()
  const half = minutes * 30_000
  const cpuMsSince = createClock()
  const documents = fuzzDocuments({ seed, until: performance.now() + half }, { watchdog, say: warn })
  const catalogs = await fuzzCatalogs({ seed, until: performance.now() + half }, { watchdog, say: warn })
  await watchdog.stop()
  print({ seed, cpuMinutes: Number((cpuMsSince() / 60_000).toFixed(2)), documents, catalogs })
  return documents.crash + documents.hang + documents.nowhere + catalogs.troubles
}

async function repeatCatalog(recipe: string): Promise<number> {
  const watchdog = startWatchdog()
  const catalogs = await fuzzCatalogs({ seed: 0, until: 0, only: recipeIn(recipe) }, { watchdog, say: warn })
  await watchdog.stop()
  print(catalogs)
  return catalogs.troubles
}

function createClock(): () => number {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }
}

function warn(text: string): void {
  process.stderr.write(`${text}\n`)
}

function print(result: unknown): void {
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
}

function troubles(): Promise<number> | number {
  if (values.input !== undefined) return fuzzDocument(Buffer.from(values.input, 'base64'), warn)
  if (values.catalog !== undefined) return repeatCatalog(values.catalog)
  return fuzz(Number(values.seed), Number(values.minutes))
}

process.exitCode = (await troubles()) === 0 ? 0 : 1
