import { assert, jsonValue, property } from 'fast-check'
import { expect, test } from 'vitest'
import { packJson, unpackJson } from '../../src/lib/packed-json.ts'

test('whatever is packed comes back, to the letter', () => {
  assert(
    property(jsonValue({ noUnicodeString: false, maxDepth: 6 }), (value) => {
      const json = JSON.stringify(value)
      expect(unpackJson(packJson(json))).toBe(json)
    }),
    { numRuns: 2_000 },
  )
})

test.each([
  '""',
  '"\\""',
  '"\\\\"',
  '{"a\\":":"\\\\\\""}',
  '{"":":"}',
  '[1,-2.5,1e+21,1.5e-7,true,false,null,[],{}]',
  '{"1":{"-2":3}}',
  JSON.stringify('\u0000\u0001\u0002\u2028 "quoted": , ] }'),
])('%s comes back', (json) => {
  expect(unpackJson(packJson(json))).toBe(json)
})

function packed(name: string, replicas: number) {
  return packJson(JSON.stringify({ name, scaling: { replicas }, on: true }))
}

test('bodies that differ in values alone are of one shape', () => {
  expect(packed('orders', 2).shape).toBe(packed('a: "1", {"b": [-3]}', 10).shape)
  expect(packed('orders', 2).values).not.toBe(packed('orders', 3).values)
})
