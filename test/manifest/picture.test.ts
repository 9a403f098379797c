import { expect, test } from 'vitest'
import { pictureOf } from '../../src/manifest/diagnostics/diagnostic.ts'

const at = (lineText: string, column: number, endColumn: number) => ({
  file: 'a.yaml',
  line: 3,
  column,
  endColumn,
  lineText,
})

test.each([
  ['carets stand below what is marked', at('  nam: x', 3, 6), '  nam: x\n  ^^^'],
  ['tabs are repeated, whatever their width', at('\tb:\tx', 5, 6), '\tb:\tx\n\t  \t^'],
  ['the end of a line can be marked', at('a:', 3, 4), 'a:\n ^'],
  ['what lies beyond a line that was cut is marked at its end', at('abc…', 300, 310), 'abc…\n   ^'],
])('%s', (_name, finding, expected) => {
  expect(pictureOf(finding)).toBe(`a.yaml:3:${finding.column}\n${expected}`)
})

test('without a line there is only the place', () => {
  expect(pictureOf(at('', 1, 2))).toBe('a.yaml:3:1')
})
