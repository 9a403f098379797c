import { expect, test } from 'vitest'
import { mutationsOf, withSwitches } from './mutations.ts'

function mutantsOf(text: string): readonly string[] {
  return mutationsOf(text).map(({ start, end, to }) => text.slice(0, start) + to + text.slice(end))
}

test.each<{ of: string; text: string; become: readonly string[] }>([
  { of: 'a condition', text: 'if (a) b', become: ['if (!(a)) b', 'if (a) ;'] },
  { of: 'a choice', text: 'const x = a ? 0 : 1', become: ['const x = !(a) ? 0 : 1'] },
  { of: 'a boundary', text: 'const x = a < b', become: ['const x = a <= b'] },
  { of: 'a boundary beside a text', text: "const x = '<' >= b", become: ["const x = '<' > b"] },
  { of: 'an equality', text: 'const x = a === b', become: ['const x = a !== b'] },
  { of: 'a conjunction', text: 'const x = a && b', become: ['const x = a || b'] },
  { of: 'a statement', text: 'f(x)', become: [';'] },
  { of: 'an await', text: 'const x = await f()', become: ['const x = (f())'] },
  { of: 'an awaited statement', text: 'a\nawait f()', become: [';\nawait f()', 'a\n;', 'a\nvoid f()'] },
  {
    of: 'a failpoint',
    text: "await context.fail?.('after-id')",
    become: [],
  },
  { of: 'a value with a type', text: 'const x = (a < b) as C', become: ['const x = (a <= b) as C'] },
  { of: 'a comparator', text: 'const x = a < b ? -1 : 1', become: ['const x = !(a < b) ? -1 : 1'] },
  { of: 'a key', text: 'const x = { 60: 0 }', become: [] },
  { of: 'a constant', text: 'const x = 60', become: ['const x = (60 * 1000)'] },
  { of: 'a type', text: 'type A = B extends C ? 2 : 3', become: [] },
  { of: 'an index', text: 'const x = a[0]', become: [] },
])('mutants of $of', ({ text, become }) => {
  expect(mutantsOf(text)).toEqual(become)
})

test('each mistake has a switch, also one in another, and none makes a call of the line before', () => {
  const text = 'let x = 0\nif (a < b && c) x = 60\nawait f(x)'
  const switched = withSwitches(text, new Map(mutationsOf(text).map((mutation, at) => [5 + at, mutation])))
  expect(switched.match(/mutantAt\?\.\((\d+)\)/g)?.toSorted()).toEqual(
    [10, 11, 5, 6, 7, 8, 9].map((id) => `mutantAt?.(${id})`),
  )
  expect(switched.split('\n').map((line) => line.slice(0, 4))).toEqual(['let ', 'if (', 'void'])
})

test('a switch at the beginning of a statement makes no call of the line before, also without its statement', () => {
  const text = 'f()\nawait g()'
  const alone = new Map([...mutationsOf(text).entries()].filter(([, { what }]) => what === 'await dropped'))
  expect(withSwitches(text, alone)).toMatch(/^f\(\)\nvoid 0, \(/)
})
