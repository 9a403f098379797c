import { expect, test } from 'vitest'
import { mutationsOf } from './mutations.ts'

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
  { of: 'a constant', text: 'const x = 60', become: ['const x = (60 * 1000)'] },
  { of: 'a type', text: 'type A = B extends C ? 2 : 3', become: [] },
  { of: 'an index', text: 'const x = a[0]', become: [] },
])('mutants of $of', ({ text, become }) => {
  expect(mutantsOf(text)).toEqual(become)
})
