import { expect, test } from 'vitest'
import { catalogSteps } from '../../src/manifest/catalog/next-catalog.ts'
import { dependencyCircles } from '../../src/manifest/rules/dependency-cycles.ts'
import { createPlaces } from '../../src/manifest/rules/source-locator.ts'
import { inSlices } from '../../src/manifest/validate/slices.ts'
import { documents, lock, never, readingOf } from './support.ts'

/*
 * A reading lets others run. Steps are counted, and not seconds: what takes all documents at one go makes fewer of them than there
 * are hundreds of documents.
 */

/** Documents of a reading here, and the most that one step may take. A rule that takes them at one go makes so many steps fewer. */
const DOCUMENTS = 3_000
const OF_A_STEP = 500

const alert = (n: number, policy = '') =>
  `{apiVersion: pipewright/v1, kind: Alert, metadata: {name: a${n}}, policy: {${policy}}, spec: {id: x}}\n`

function filesOf(alertText: (n: number) => string): Readonly<Record<string, string>> {
  const texts = Array.from({ length: DOCUMENTS }, (_, n) => alertText(n))
  return Object.fromEntries(
    [0, 1, 2, 3, 4, 5].map((file) => [
      `f${file}.yaml`,
      documents(...texts.slice(file * 500, (file + 1) * 500)),
    ]),
  )
}

const ids = (offset: number) =>
  Object.fromEntries(
    Array.from({ length: DOCUMENTS }, (_, n) => [
      `Pipe/p${n}`,
      `${String(n + offset).padStart(8, '0')}-0000-4000-8000-000000000000`,
    ]),
  )

function stepsFor(files: Readonly<Record<string, string>>) {
  return catalogSteps({
    previous: undefined,
    reading: readingOf(files),
    recorded: new Map(),
    places: createPlaces(() => undefined),
    accept: 'normal',
  })
}

function countOf(steps: Generator<void, unknown>): number {
  let count = 0
  while (steps.next().done !== true) count += 1
  return count
}

/** Steps that there are however few the documents. */
const FIXED = 8

test.each([
  // Who has which key, references, circles, Locks, and entries twice.
  ['documents of all sorts', filesOf((n) => alert(n)), 6],
  // The same, and what is found.
  ['documents with an error each', filesOf((n) => alert(n, 'dependsOn: [Alert/nobody]')), 8],
  // The same, entered and searched, and what is found.
  [
    'documents in circles of two',
    filesOf((n) => alert(n, `dependsOn: [Alert/a${n % 2 === 0 ? n + 1 : n - 1}]`)),
    9,
  ],
  [
    'documents in circles within circles',
    filesOf((n) => alert(n, `dependsOn: [Alert/a${n + 1}, Alert/a${n >> 1}, Alert/a0]`)),
    16,
  ],
  // By id, by key, and twice as many that nobody uses.
  ['Locks that disagree', { 'a.lock.yaml': lock('a', ids(0)), 'b.lock.yaml': lock('b', ids(1)) }, 4],
] as const)('no step takes all of the reading: %s', (_, files, rounds) => {
  expect(countOf(stepsFor(files))).toBeGreaterThanOrEqual((rounds * DOCUMENTS) / OF_A_STEP + FIXED)
})

// Each key is entered, left, and passed in search of a circle.
test('no step looks for all circles', () => {
  const count = 20_000
  const key = (n: number) => `Alert/a${n % count}` as const
  const edges = new Map(Array.from({ length: count }, (_, n) => [key(n), [key(n + 1)]] as const))
  expect(countOf(dependencyCircles(edges))).toBeGreaterThanOrEqual((3 * count) / 2_000)
})

test('between slices of steps others run', async () => {
  const others = { ran: 0 }
  const count = () => {
    others.ran += 1
    if (others.ran < 3) setImmediate(count)
  }
  setImmediate(count)
  function* busy(): Generator<void, number> {
    for (let left = 20_000_000; left > 0 && others.ran < 3; left -= 1) yield
    return others.ran
  }
  expect(await inSlices(busy(), never)).toBe(3)
})
