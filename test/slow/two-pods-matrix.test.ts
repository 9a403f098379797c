import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CREATE_FAILPOINTS } from '../../src/contract/failpoint.ts'
import { startApiModel } from '../kubernetes/api-model.ts'
import { REAL_API_LIMIT_MS, startRealApi, type RealApi } from '../kubernetes/real-api.ts'
import { createRandom } from '../torture/random.ts'
import {
  CELLS,
  NEVER_REACHED,
  REPLIES,
  sampleOf,
  TROUBLES,
  type Place,
  type PodCell,
} from './support/pod-cells.ts'
import { brokenCell, podFateOf } from './support/pod-fate.ts'
import { isPassed, podExperiment } from './support/pod-experiment.ts'
import type { ApiOfCells } from './support/pod-troubles.ts'

/*
 * Of two processes the one that acts stands still on its way to a create, some trouble comes over it there, and everything goes on: no pipe
 * twice, none lost, and each unknown outcome told. A sample of the cells comes by itself, SEED=… repeats it, and MATRIX=all runs all of
 * them: half an hour.
 */

const SEED = process.env['SEED'] ?? String(Math.floor(Math.random() * 1_000_000))
const IS_ALL = process.env['MATRIX'] === 'all'
const random = createRandom(SEED)
const CHOSEN = IS_ALL ? CELLS : sampleOf(random)
const PASSED = IS_ALL ? NEVER_REACHED : [random.pick(NEVER_REACHED)]

process.stderr.write(
  `two pods: SEED=${SEED}: ${CHOSEN.length} of ${CELLS.length} cells. There is none where the failpoint never comes, ` +
    `with any of ${TROUBLES.length} troubles: ${NEVER_REACHED.map(nameOf).join('; ')}\n`,
)

function nameOf({ at, reply }: Place): string {
  return `${at}, the create is ${reply}`
}

function rowsOf(isReal: boolean): readonly (readonly [string, PodCell])[] {
  return CHOSEN.filter(({ trouble }) => (trouble === 'the API server killed, and back') === isReal).map(
    (cell) => [`${nameOf(cell)}: ${cell.trouble} → ${podFateOf(cell)}`, cell],
  )
}

/** @returns what is broken, and then what was written; nothing: all is well */
async function faultsOf(cell: PodCell, api: ApiOfCells, ledger: string): Promise<readonly string[]> {
  const facts = await podExperiment(cell, api, ledger)
  const faults = brokenCell(cell, facts)
  return faults.length === 0 ? [] : [...faults, facts.log]
}

test('the cells that are run hold each trouble, each failpoint and each reply', () => {
  expect(new Set(CHOSEN.map(({ trouble }) => trouble))).toEqual(new Set(TROUBLES))
  expect(new Set(CHOSEN.map(({ at }) => at))).toEqual(new Set(CREATE_FAILPOINTS))
  expect(new Set(CHOSEN.map(({ reply }) => reply))).toEqual(new Set(REPLIES))
})

describe.concurrent('two processes, of which one acts', () => {
  test.each(rowsOf(false))('%s', async (_, cell) => {
    await using api = await startApiModel()
    expect(await faultsOf(cell, api, 'pods')).toEqual([])
  })

  test.each(PASSED.map((place) => [nameOf(place), place] as const))(
    '%s: the failpoint never comes',
    async (_, place) => {
      await using api = await startApiModel()
      expect(await isPassed(place, api)).toBe(true)
    },
  )
})

/* One after the other: it is the same API for all. */
describe('the API server', () => {
  let api: RealApi

  beforeAll(async () => {
    api = await startRealApi()
  }, REAL_API_LIMIT_MS)

  afterAll(async () => {
    await api[Symbol.asyncDispose]()
  })

  test.each(rowsOf(true))('%s', async (_, cell) => {
    expect(await faultsOf(cell, api, `${cell.at}-${cell.reply}`)).toEqual([])
  })
})
