import { asText, catalogOf, recipeOf, type Recipe } from './hostile/random-catalog.ts'
import { ordinary } from './hostile/ordinary.ts'
import type { Files } from './hostile/text.ts'
import { EDITS, readCatalog, type Readings } from './read-catalog.ts'
import type { Watchdog } from './watchdog.ts'

/** What must not be; `slow`: it cost more than its bytes may. */
interface Trouble {
  readonly what: 'crash' | 'nowhere' | 'slow'
  readonly detail: string
}

/**
 * Times the CPU of ordinary manifests of as many bytes that a reading may take. Very many tiny documents come to 8, with what a
 * busy machine adds; what grows faster than its bytes passes any number.
 */
const MOST_TIMES = 16

/** Bytes below which a catalog counts as that large: a reading has a cost of its own. */
const LEAST_BYTES = 30_000

/** From so many times on, the same structure is tried once more with four times the bytes. */
const SUSPECT_TIMES = 3
const LARGER = 4
const MOST_BYTES = 1_200_000

/** A catalog is too slow when it is so each time: a busy machine makes some so. */
const TRIES = 3

/** Bytes of the ordinary manifests that are measured in between, and after how many catalogs. */
const FLOOR_BYTES = 150_000
const FLOOR_EVERY = 20

/** A catalog, and how it compares with ordinary manifests. */
interface Measured {
  readonly recipe: Recipe
  readonly readings: Readings
  readonly times: number
  readonly timesAgain: number
}

export interface CatalogsResult {
  readonly tried: number
  readonly bytes: number
  readonly troubles: number
  readonly largestHeapMb: number
  /** By CPU for each byte, against ordinary manifests. */
  readonly slowest: string
  readonly slowestAgain: string
}

/** Reads catalogs that are made to be slow, the same ones in the same order for the same seed, until the time is over. */
export async function fuzzCatalogs(
  { seed, until, only }: { readonly seed: number; readonly until: number; readonly only?: Recipe },
  { watchdog, say }: { readonly watchdog: Watchdog; readonly say: (text: string) => void },
): Promise<CatalogsResult> {
  const floor = await createFloor()
  let [tried, bytes, troubles, heap] = [0, 0, 0, 0]
  let slowest: Measured | undefined
  let slowestAgain: Measured | undefined

  async function attempt(recipe: Recipe): Promise<number> {
    watchdog.begins(`--catalog ${asText(recipe)}`)
    const { measured, found } = await tryCatalog(recipe, floor)
    tried += 1
    troubles += found.length
    for (const { what, detail } of found) say(`${what}: ${detail}\n  --catalog ${asText(recipe)}`)
    if (measured === undefined) return 0
    bytes += measured.readings.bytes
    heap = Math.max(heap, measured.readings.heapMb)
    if (measured.times > (slowest?.times ?? 0)) slowest = measured
    if (measured.timesAgain > (slowestAgain?.timesAgain ?? 0)) slowestAgain = measured
    return Math.max(measured.times, measured.timesAgain * 2)
  }

  if (only !== undefined) await attempt(only)
  for (let number = 0; performance.now() < until; number += 1) {
    if (number % FLOOR_EVERY === FLOOR_EVERY - 1) await floor.renew()
    const recipe = recipeOf(seed, number)
    const times = await attempt(recipe)
    const larger = { ...recipe, bytes: Math.min(recipe.bytes * LARGER, MOST_BYTES) }
    if (times > SUSPECT_TIMES && performance.now() < until) await attempt(larger)
  }
  return {
    tried,
    bytes,
    troubles,
    largestHeapMb: Math.round(heap),
    slowest: wordsOf(slowest, 'first'),
    slowestAgain: wordsOf(slowestAgain, 'again'),
  }
}

function wordsOf(measured: Measured | undefined, which: 'again' | 'first'): string {
  if (measured === undefined) return 'none'
  const { recipe, readings, times, timesAgain } = measured
  const shown = (which === 'first' ? times : timesAgain).toFixed(1)
  return `--catalog ${asText(recipe)}: ${readings.bytes} bytes, ${readings[which].toFixed(0)} ms, ${shown} times ordinary manifests`
}

/** What ordinary manifests take here and now. */
type Floor = Awaited<ReturnType<typeof createFloor>>

async function createFloor() {
  let perByte = Infinity
  // What runs for the first time is slow.
  for (let warm = 0; warm < 3; warm += 1) perByte = await cpuPerByte(ordinary(FLOOR_BYTES))
  return {
    /** ms of CPU a byte. */
    perByte: () => perByte,
    /** Measures again, as machines change their speed. @param bytes as many as those that it is compared with */
    async renew(bytes: number = FLOOR_BYTES) {
      perByte = await cpuPerByte(ordinary(bytes))
    },
  }
}

async function cpuPerByte(files: Files): Promise<number> {
  const { first, bytes } = await readCatalog(files, 'add a line')
  return first / bytes
}

async function tryCatalog(
  recipe: Recipe,
  floor: Floor,
): Promise<{ readonly measured: Measured | undefined; readonly found: readonly Trouble[] }> {
  const edit = EDITS[recipe.number % EDITS.length] ?? 'add a line'
  try {
    const files = catalogOf(recipe)
    let measured = compare(recipe, await readCatalog(files, edit), floor)
    for (let left = TRIES - 1; left > 0 && isSlow(measured); left -= 1) {
      await floor.renew(Math.max(measured.readings.bytes, LEAST_BYTES))
      measured = compare(recipe, await readCatalog(files, edit), floor)
    }
    const nowhere = measured.readings.nowhere.map((detail) => ({ what: 'nowhere', detail }) as const)
    if (!isSlow(measured)) return { measured, found: nowhere }
    const detail = `${wordsOf(measured, 'first')}; after ${edit}: ${wordsOf(measured, 'again')}`
    return { measured, found: [...nowhere, { what: 'slow', detail }] }
  } catch (error) {
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { measured: undefined, found: [{ what: 'crash', detail }] }
  }
}

function compare(recipe: Recipe, readings: Readings, floor: Floor): Measured {
  const ordinaryMs = (bytes: number) => floor.perByte() * Math.max(bytes, LEAST_BYTES)
  return {
    recipe,
    readings,
    times: readings.first / ordinaryMs(readings.bytes),
    timesAgain: readings.again / ordinaryMs(readings.bytesAgain),
  }
}

function isSlow({ times, timesAgain }: Measured): boolean {
  return times > MOST_TIMES || timesAgain > MOST_TIMES
}
