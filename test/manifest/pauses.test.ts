import { expect, test } from 'vitest'
import { catalogSteps } from '../../src/manifest/catalog/next-catalog.ts'
import { createPlaces } from '../../src/manifest/rules/source-locator.ts'
import { createSlices, inSlices } from '../../src/manifest/validate/slices.ts'
import { documents, readingOf } from './support.ts'

/* A reading lets other work run. Steps are counted, not seconds. */

const DOCUMENTS = 1_000

const alerts = Array.from(
  { length: DOCUMENTS },
  (_, n): string =>
    `{apiVersion: pipewright/v1, kind: Alert, metadata: {name: a${n}}, policy: {dependsOn: [Alert/nobody]}, spec: {id: x}}\n`,
)

test.each([
  ['one step for each rule, if nothing is wrong', 8, (): undefined => undefined],
  ['one more for each document that is parsed again for the place of a finding', 500, textOf],
] as const)('a catalog is made in steps: %s', (_, least, text) => {
  const steps = catalogSteps({
    previous: undefined,
    reading: readingOf({ 'a.yaml': textOf() }),
    recorded: new Map(),
    places: createPlaces(text),
    accept: 'normal',
  })
  let count = 0
  while (steps.next().done !== true) count += 1
  expect(count).toBeGreaterThanOrEqual(least)
})

function textOf(): string {
  return documents(...alerts)
}

test('other work runs between slices of steps', async () => {
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
  expect(await inSlices(busy(), createSlices())).toBe(3)
})
