import { expect, test } from 'vitest'
import { assert, jsonValue, property } from 'fast-check'
import { sameJson, stableJson } from '../../src/lib/json.ts'

const value = jsonValue({ maxDepth: 3 })

test('two values are the same exactly when their stable JSON is', () => {
  assert(
    property(value, value, (a, b) => {
      expect(sameJson(a, b)).toBe(stableJson(a) === stableJson(b))
      expect(sameJson(a, structuredClone(a))).toBe(true)
    }),
  )
})

test.each([
  ['a member that is undefined is one that is not there', { a: 1, b: undefined }, { a: 1 }, true],
  ['on either side', { a: 1 }, { a: 1, b: undefined }, true],
  ['a member more is another value', { a: 1 }, { a: 1, b: 2 }, false],
  ['a member less is another value', { a: 1, b: 2 }, { a: 1 }, false],
  ['an item more is another value', [1], [1, 2], false],
  ['a list is no object', [], {}, false],
  ['null is no object', null, {}, false],
  ['inherited names are not members', {}, { toString: 1 }, false],
  ['nor on the other side', { toString: 1 }, {}, false],
])('%s', (_, a, b, same) => {
  expect(sameJson(a, b)).toBe(same)
  expect(stableJson(a) === stableJson(b)).toBe(same)
})
