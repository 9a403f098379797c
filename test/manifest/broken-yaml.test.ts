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
    base: PIPE,
    from: '- name: id',
    to: '-\tname: id',
    said: 'error yaml-syntax 26:8',
    hint: 'Use spaces.',
  },
  {
    why: 'a comma is missing in braces',
    base: PIPE,
    from: ONE_COMMA,
    to: '{ name: amount type: Int64 }',
    said: 'error yaml-syntax 28:17',
    hint: 'Close the bracket first, or write the value in brackets as well.',
  },
  {
    why: 'a comma is missing at the end of a line',
    base: PIPE,
    from: ONE_COMMA,
    to: '{\n          name: amount\n          type: Int64\n        }',
    said: 'error yaml-syntax 29:17',
    hint: 'Look for a ":", with a space after it, that is missing on this line.',
  },
  {
    why: 'a comma is missing in a reference, whose text is masked',
    base: PIPE,
    from: REFERENCE,
    to: '{ secretRef: { name: kafka key: username } }',
    said: 'error yaml-syntax 17:40',
    hint: 'Close the bracket first, or write the value in brackets as well.',
  },
  {
    why: 'a brace too many',
    base: PIPE,
    from: REFERENCE,
    to: `${REFERENCE} }`,
    said: 'error yaml-syntax 17:65',
    hint: 'Look for a missing quote, bracket or comma before it.',
  },
  {
    why: 'a dash where one value belongs',
    base: PIPE,
    from: 'service: analytics',
    to: 'service: - analytics',
    said: 'error yaml-syntax 11:12',
    hint: 'Look for a missing quote, bracket or comma before it.',
  },
  {
    why: 'a dash behind the name of a list',
    base: ENDPOINT,
    from: 'openApiKeys:\n    - key-1\n    - key-2',
    to: 'openApiKeys: - key-1',
    said: 'error yaml-syntax 10:16',
    hint: 'Look for a missing quote, bracket or comma before it.',
  },
  {
    why: 'no space after a colon',
    base: PIPE,
    from: 'topics: orders',
    to: 'topics:orders',
    said: 'error yaml-syntax 15:7',
    hint: 'Look for a ":", with a space after it, that is missing on this line.',
  },
  {
    why: 'a template of Jinja: a condition',
    base: PIPE,
    from: '  scaling:',
    to: '  {% if big %}\n  scaling:',
    said: 'error template 33:3',
    hint: 'Render it first and put the result here. Name the template in .pipewrightignore.',
  },
  {
    why: 'a template of Jinja: a value in quotes',
    base: PIPE,
    from: 'service: analytics',
    to: 'service: "{% raw %}x{% endraw %}"',
    said: 'error template 11:12',
    hint: 'Render it first and put the result here. Name the template in .pipewrightignore.',
  },
  {
    why: 'a template of ERB: a condition',
    base: PIPE,
    from: '  scaling:',
    to: '<% if big %>\n  scaling:',
    said: 'error template 33:1',
    hint: 'Render it first and put the result here. Name the template in .pipewrightignore.',
  },
  {
    why: 'a template of ERB: a value that could be one',
    base: PIPE,
    from: 'topics: orders',
    to: 'topics: <%= topics %>',
    said: 'warning template 15:15',
    hint: 'Render it first and put the result here. Name the template in .pipewrightignore.',
  },
  {
    why: 'a variable where a reference may stand',
    base: PIPE,
    from: REFERENCE,
    to: '${USERNAME}',
    said: 'warning placeholder 17:19',
    hint: 'Write the value itself, or {secretRef: {name: …, key: …}} for a secret.',
  },
  {
    why: 'a variable in the name of a manifest, where no reference may stand',
    base: PIPE,
    from: 'name: orders',
    to: 'name: $NAME',
    said: 'error placeholder 4:9',
    hint: 'Write the value itself, or {secretRef: {name: …, key: …}} for a secret.',
  },
  {
    why: 'a colon in a text, and a comment behind it',
    base: PIPE,
    from: 'topics: orders',
    to: 'topics: orders: new # and no other',
    said: 'error yaml-syntax 15:15',
    hint: 'Indent this line and the next one like their neighbours, or put a value with ": " in quotes.',
  },
  {
    why: 'a colon in a password',
    base: PIPE,
    from: 'password:\n          secretRef:\n            name: kafka\n            key: password',
    to: 'password: a: b',
    said: 'error yaml-syntax 18:19',
    hint: 'Indent this line and the next one like their neighbours, or put a value with ": " in quotes.',
  },
  {
    why: 'a star alone, which is meant as it stands',
    base: PIPE,
    from: 'topics: orders',
    to: 'topics: *',
    said: 'error yaml-style 15:15',
    hint: 'Put the "*" in quotes.',
  },
  {
    why: 'an ampersand alone',
    base: PIPE,
    from: 'topics: orders',
    to: 'topics: &',
    said: 'error yaml-style 15:15',
    hint: 'Put the "&" in quotes.',
  },
  {
    why: 'the tag of another tool where a reference may stand',
    base: PIPE,
    from: REFERENCE,
    to: '!vault kafka/username',
    said: 'error yaml-tag 17:19',
    hint: 'Remove the tag; manifests need none.',
  },
  {
    why: 'such a tag before what may be a secret',
    base: PIPE,
    from: REFERENCE,
    to: '!vault "sKDJ3j2h4"',
    said: 'error yaml-tag 17:19',
    hint: 'Remove the tag; manifests need none.',
  },
  {
    why: 'such a tag where no reference may stand',
    base: PIPE,
    from: 'service: analytics',
    to: 'service: !vault analytics',
    said: 'error yaml-tag 11:12',
    hint: 'Remove the tag; manifests need none.',
  },
  {
    why: 'a byte order mark in the middle of a file',
    base: TWO,
    from: '---\n',
    to: '---\n\ufeff',
    said: 'error unseen-character 10:1',
    hint: 'Type the word again.',
  },
]

function saidOf(text: string): readonly string[] {
  return findingsOf(parse(text)).map(
    ({ severity, code, line, column, hint }) => `${severity} ${code} ${line}:${column} ${hint}`,
  )
}

describe('what is no YAML, or not what was meant', () => {
  test.each(MISTAKES)('$why', (mistake) => {
    expect(saidOf(mistake.base)).toEqual([])
    expect(saidOf(withMistake(mistake))).toEqual([`${mistake.said} ${mistake.hint}`])
  })

  test.each([
    ['a sentence with a no-break space inside', 'Lag\u00a0of the ingest'],
    ['a joiner that a script needs', '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645'],
    ['an escape, which is meant', '"a\\u200bb"'],
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
      'error yaml-syntax 14:16 Indent this line and the next one like their neighbours, or put a value with ": " in quotes.',
      'error yaml-syntax 23:15 Indent this line and the next one like their neighbours, or put a value with ": " in quotes.',
    ])
  })

  test.each([
    ['broken manifests', `---\n${PIPE.replace('      topics', '       topics')}`],
    ['manifests with unknown fields', `---\n${PIPE.replace('topics', 'unheard')}`],
    ['a line with many places for a comma', `---\na: { ${'b c: '.repeat(200)} }\n`],
    ['texts that begin placeholders', `---\na: "${'${a:'.repeat(200)}"\n`],
    ['texts that begin templates', `---\na: "${'{{<%{%'.repeat(200)}"\n`],
  ])('%s, as many as fit into a file, cost a bounded time', (_what, unit) => {
    const text = unit.repeat(Math.floor(900_000 / unit.length))
    expect(cpuMsOf(() => parse(text))).toBeLessThan(20_000)
  })
})
