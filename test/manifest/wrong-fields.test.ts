import { describe, expect, test } from 'vitest'
import { PIPE } from './mistaken.ts'
import { findingsOf, parse, saidOf } from './support.ts'

/* Fields that are wrong where they stand, beside what else is wrong or missing. Each by itself is in test/corpus/wrong/hints.yaml. */

describe('a field that is missing elsewhere', () => {
  const ROWS = [
    ['      topics: orders\n', '  scaling:', '  topics: orders\n  scaling:', '29:3', 'spec.source.kafka'],
    ['    database: shop\n', '  scaling:', '  database: shop\n  scaling:', '29:3', 'spec.destination'],
    [
      '            password: { secretRef: { name: kafka, key: password } }\n'.slice(4),
      '      topics',
      '      password: x\n      topics',
      '15:7',
      'spec.source.kafka.credentials',
    ],
    ['\n  scaling:\n    replicas: 2', '  interval: 10m', '  replicas: 2', '7:3', 'spec.scaling'],
  ] as const

  test.each(ROWS)(
    'belongs there, and to the nearer of two places: without %j',
    (gone, from, to, at, place) => {
      const bare = PIPE.replace(gone, '')
      expect(bare).not.toBe(PIPE)
      expect(saidOf(bare)).toEqual([])
      expect(saidOf(bare.replace(from, to))).toEqual([`error unknown-field ${at} It belongs under ${place}.`])
    },
  )
})

test('a field below a secret is not named: it can be the secret', () => {
  const text = PIPE.replace(
    '{ secretRef: { name: kafka, key: username } }',
    '{ secretRef: { name: a, key: b }, hunter2: x }',
  )
  expect(findingsOf(parse(text)).map(({ message }) => message)).toEqual([
    'There is no such field in spec.source.kafka.credentials.username.',
  ])
})

test('the first of two fields is named, and the second marked', () => {
  expect(findingsOf(parse(PIPE.replace('  scaling', '  service: other\n  scaling')))).toMatchObject([
    {
      message: 'The field "service" is there twice.',
      related: [{ file: 'a.yaml', line: 11, column: 3, message: 'the first of the two' }],
    },
  ])
})

const codes = (text: string) => findingsOf(parse(text)).map(({ code, line }) => `${code} ${line}`)

test('shape and rules are said in one round, but no rule that only a wrong field breaks', () => {
  const mapping = 'destinationField: amount'
  const two = PIPE.replace('labels:', 'lables:').replace(mapping, 'destinationField: other')
  expect(codes(two)).toEqual(expect.arrayContaining(['unknown-field 5', 'mapping-unknown-column 29']))
  const mistaken = codes(PIPE.replace(mapping, 'destinationFeild: amount'))
  expect(mistaken.filter((code) => code.startsWith('mapping-'))).toEqual([])
})
