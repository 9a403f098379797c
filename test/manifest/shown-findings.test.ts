import { describe, expect, test } from 'vitest'
import { shownFindings } from '../../src/manifest/catalog/next-catalog.ts'
import { findingOfFile } from '../../src/manifest/diagnostics/diagnostic.ts'

function findings(file: string, count: number, severity: 'error' | 'warning' = 'error') {
  const statement = { severity, code: 'yaml-syntax', message: 'x', hint: 'y' } as const
  return Array.from({ length: count }, (_, line) => ({ ...findingOfFile(file, statement), line: line + 1 }))
}

describe('the findings of one reading', () => {
  test('are shown, all of them, while there are not very many', () => {
    expect(
      shownFindings([...findings('b', 3), ...findings('a', 2)]).map(({ file, line }) => file + line),
    ).toEqual(['a1', 'a2', 'b1', 'b2', 'b3'])
    expect(shownFindings(findings('a', 2_000))).toHaveLength(2_000)
  })

  test('of one file hide none of another, and it says how many more it has', () => {
    const shown = shownFindings([...findings('a', 50_000), ...findings('z', 7)])
    expect(shown.filter(({ file }) => file === 'z')).toHaveLength(7)
    expect(shown.filter(({ file }) => file === 'a')).toHaveLength(21)
    expect(shown.find(({ code }) => code === 'too-many-findings')).toMatchObject({
      file: 'a',
      severity: 'error',
      message: 'The directory has 49980 more findings that are not shown. At least one is in this file.',
    })
  })

  test('show errors before warnings, and say which of both is left out', () => {
    const shown = shownFindings([...findings('a', 3_000, 'warning'), ...findings('a', 10)])
    expect(shown.filter(({ severity }) => severity === 'error')).toHaveLength(10)
    expect(shown.find(({ code }) => code === 'too-many-findings')?.severity).toBe('warning')
  })

  test('are of a bounded number of files', () => {
    const many = Array.from({ length: 20_000 }, (_, n) => findings(`f${n}`, 2)).flat()
    const shown = shownFindings([...many, ...findings('honest', 1)])
    expect(shown).toHaveLength(2_001)
    expect(shown.some(({ file }) => file === 'honest')).toBe(true)
    expect(shown.filter(({ code }) => code === 'too-many-findings').at(-1)?.message).toContain(
      'more findings',
    )
  })
})
