import { describe, expect, test } from 'vitest'
import { cpuMsOf } from '../support/cpu.ts'
import { ALERT, ENDPOINT, PIPE, TWO, withMistake, type Mistake } from './mistaken.ts'
import { findingsOf, parse } from './support.ts'

const ONE_COMMA = '{ name: amount, type: Int64 }'
const REFERENCE = '{ secretRef: { name: kafka, key: username } }'

/* What is no YAML, or not the YAML that was meant: the line that is wrong, and what to write there. */

const MISTAKES: readonly Mistake[] = [
  {
    why: 'a tab after the dash',
    from: '- name: id',
    to: '-\tname: id',
    said: 'error yaml-syntax 26:8',
    hint: 'Use spaces.',
  },
  {
    why: 'a comma is missing at the end of a line',
    from: ONE_COMMA,
    to: '{\n          name: amount\n          type: Int64\n        }',
    said: 'error yaml-syntax 29:17',
    hint: 'Look for a ":", with a space after it, that is missing on this line.',
  },
  {
    why: 'a comma is missing in a reference, whose text is masked',
    from: REFERENCE,
    to: '{ secretRef: { name: kafka key: username } }',
    said: 'error yaml-syntax 17:40',
    hint: 'Look for a missing quote, bracket, comma, ":" or space on this line or before it.',
  },
  {
    why: 'a dash behind the name of a list',
    base: ENDPOINT,
    from: 'openApiKeys:\n    - key-1\n    - key-2',
    to: 'openApiKeys: - key-1',
    said: 'error yaml-syntax 10:16',
    hint: 'Look for a missing quote, bracket, comma, ":" or space on this line or before it.',
  },
  {
    why: 'a template of Jinja: a condition',
    from: '  scaling:',
    to: '  {% if big %}\n  scaling:',
    said: 'error template 33:3',
    hint: 'Render it first, or write the value itself. Name a template in .pipewrightignore.',
  },
  {
    why: 'a template of Jinja: a value in quotes',
    from: 'topics: orders',
    to: 'topics: "{% raw %}x{% endraw %}"',
    said: 'warning template 15:15',
    hint: 'Render it first, or write the value itself. Name a template in .pipewrightignore.',
  },
  {
    why: 'a template of ERB: a condition',
    from: '  scaling:',
    to: '<% if big %>\n  scaling:',
    said: 'error template 33:1',
    hint: 'Render it first, or write the value itself. Name a template in .pipewrightignore.',
  },
  {
    why: 'a template of ERB: a value that could be one',
    from: 'topics: orders',
    to: 'topics: <%= topics %>',
    said: 'warning template 15:15',
    hint: 'Render it first, or write the value itself. Name a template in .pipewrightignore.',
  },
  {
    why: 'a variable where a reference may stand',
    from: REFERENCE,
    to: '${USERNAME}',
    said: 'warning template 17:19',
    hint: 'Render it first, or write the value itself. Name a template in .pipewrightignore.',
  },
  {
    why: 'a colon in a text, and a comment behind it',
    from: 'topics: orders',
    to: 'topics: orders: new # and no other',
    said: 'error yaml-syntax 15:15',
    hint: 'Indent this line and the next line like their neighbours, or put a value with ": " in quotes.',
  },
  {
    why: 'a colon in a password',
    from: 'password:\n          secretRef:\n            name: kafka\n            key: password',
    to: 'password: a: b',
    said: 'error yaml-syntax 18:19',
    hint: 'Indent this line and the next line like their neighbours, or put a value with ": " in quotes.',
  },
  {
    why: 'a star alone, which is meant as it stands',
    from: 'topics: orders',
    to: 'topics: *',
    said: 'error yaml-style 15:15',
    hint: 'Put a text that begins with "*" or "&" in quotes.',
  },
  {
    why: 'an ampersand alone',
    from: 'topics: orders',
    to: 'topics: &',
    said: 'error yaml-style 15:15',
    hint: 'Put a text that begins with "*" or "&" in quotes.',
  },
  {
    why: 'the tag of another tool where a reference may stand',
    from: REFERENCE,
    to: '!vault kafka/username',
    said: 'error yaml-tag 17:19',
    hint: 'Remove the tag, or resolve it first with the program that knows it.',
  },
  {
    why: 'such a tag before what may be a secret',
    from: REFERENCE,
    to: '!vault "sKDJ3j2h4"',
    said: 'error yaml-tag 17:19',
    hint: 'Remove the tag, or resolve it first with the program that knows it.',
  },
  {
    why: 'such a tag where no reference may stand',
    from: 'service: analytics',
    to: 'service: !vault analytics',
    said: 'error yaml-tag 11:12',
    hint: 'Remove the tag, or resolve it first with the program that knows it.',
  },
  {
    why: 'a byte order mark in the middle of a document',
    base: TWO,
    from: '  id: 66d',
    to: '  \ufeffid: 66d',
    said: 'error unseen-character 17:3',
    hint: 'Delete it.',
  },
  {
    why: 'no-break spaces as indentation',
    from: '      topics: orders',
    to: '\u00a0\u00a0\u00a0\u00a0\u00a0\u00a0topics: orders',
    said: 'error unseen-character 15:1',
    hint: 'Type the line again.',
  },
]

function saidOf(text: string): readonly string[] {
  return findingsOf(parse(text)).map(
    ({ severity, code, line, column, hint }) => `${severity} ${code} ${line}:${column} ${hint}`,
  )
}

describe('what is no YAML, or not what was meant', () => {
  test.each(MISTAKES)('$why', (mistake) => {
    expect(saidOf(mistake.base ?? PIPE)).toEqual([])
    expect(saidOf(withMistake(mistake))).toEqual([`${mistake.said} ${mistake.hint}`])
  })

  test.each([
    ['a sentence with a no-break space inside', 'Lag\u00a0of the ingest'],
    ['a joiner that a script needs', '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645'],
    ['a price', 'over $5 (in $)'],
    ['an address', 'https://a.example//b'],
    ['two strokes in quotes', '"a // b"'],
  ])('nothing is said of %s', (_why, name) => {
    expect(saidOf(ALERT.replace('Lag', name))).toEqual([])
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
      'error yaml-syntax 23:15 Indent this line and the next line like their neighbours, or put a value with ": " in quotes.',
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
