import { expect, test } from 'vitest'
import { next, pipe, readingOf, service } from '../manifest/support.ts'
import { listAffected } from '../../src/daemon/readings.ts'

const WRONG = pipe('a').replace('topics', 'tpics')

test.each([
  ['the same mistake', WRONG, []],
  ['another mistake', WRONG.replace('brokers', 'brkers'), ['Pipe/a']],
  [
    'other labels, by which people look for it',
    WRONG.replace('{name: a}', '{name: a, labels: {b: c}}'),
    ['Pipe/a'],
  ],
  ['no mistake, which is a change by itself', pipe('a'), []],
])('a manifest that was wrong before has %s', (_why, text, keys) => {
  const { catalog: before } = next(undefined, readingOf({ 's.yaml': service('analytics'), 'a.yaml': WRONG }))
  const { catalog: after } = next(undefined, readingOf({ 's.yaml': service('analytics'), 'a.yaml': text }))
  expect(listAffected(before, after, [])).toEqual(keys)
})
