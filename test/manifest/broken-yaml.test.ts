import { describe, expect, test } from 'vitest'
import { cpuMsOf } from '../support/cpu.ts'
import { ALERT, PIPE } from './mistaken.ts'
import { findingsOf, parse, saidOf } from './support.ts'

/* What is no YAML, or not the YAML that was meant: the line that is wrong, and what to write there. */

describe('what is no YAML, or not what was meant', () => {
  test.each([
    ['a sentence with a no-break space inside', 'Lag\u00a0of the ingest'],
    ['a joiner that a script needs', '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645'],
    ['words of another script', '\u0437\u0430\u043a\u0430\u0437\u044b'],
    ['a dollar', 'a$b'],
    ['a quote in the middle', 'it\u2019s'],
    ['a price', 'over $5 (in $)'],
    ['an address', 'https://a.example//b'],
    ['two strokes in quotes', '"a // b"'],
  ])('nothing is said of %s', (_why, name) => {
    expect(saidOf(ALERT.replace('Lag', () => name))).toEqual([])
  })
})

describe('a line that is indented wrong', () => {
  const lines = PIPE.trimEnd().split('\n')

  test.each([-1, 1, 3])('by %i: that line or one beside it is marked', (by) => {
    for (const [index, line] of lines.entries()) {
      const right = line.length - line.trimStart().length
      if (right + by < 0) continue
      const moved = lines.with(index, ' '.repeat(right + by) + line.trimStart())
      const findings = findingsOf(parse(`${moved.join('\n')}\n`))
      // What can still be read as it was meant is no mistake.
      if (findings.length === 0) continue
      expect(Math.abs((findings[0]?.line ?? 0) - (index + 1))).toBeLessThanOrEqual(1)
    }
  })

  test('so are several lines, each said', () => {
    const text = PIPE.replace('      topics', '       topics').replace('    table', '     table')
    expect(saidOf(text)).toEqual([
      'error yaml-syntax 14:16 Indent this line and the next line like their neighbours, or put a value with ": " in quotes.',
      'error yaml-syntax 20:15 Indent this line and the next line like their neighbours, or put a value with ": " in quotes.',
    ])
  })

  test.each([
    ['broken manifests', `---\n${PIPE.replace('      topics', '       topics')}`],
    ['manifests with unknown fields', `---\n${PIPE.replace('topics', 'unheard')}`],
    ['a line with many places for a comma', `---\na: { ${'b c: '.repeat(200)} }\n`],
    ['texts that begin placeholders', `---\na: "${'${a:'.repeat(200)}"\n`],
    ['texts that begin templates', `---\na: "${'{{<%{%'.repeat(200)}"\n`],
  ])('%s, hundreds of kilobytes of them, cost a bounded time', (_what, unit) => {
    const text = unit.repeat(Math.floor(300_000 / unit.length))
    expect(cpuMsOf(() => parse(text))).toBeLessThan(7_000)
  })
})
