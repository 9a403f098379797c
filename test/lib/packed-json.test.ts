import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packJson, unpackJson } from '../../src/lib/packed-json.ts'

test('whatever is packed comes back, to the letter', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false, maxDepth: 6 }), (value) => {
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

test('bodies that differ in values alone are of one shape', () => {
  const of = (name: string, replicas: number) =>
    packJson(JSON.stringify({ name, scaling: { replicas }, on: true }))
  expect(of('orders', 2).shape).toBe(of('a: "1", {"b": [-3]}', 10).shape)
  expect(of('orders', 2).values).not.toBe(of('orders', 3).values)
})
