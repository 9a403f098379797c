import { describe, expect, test } from 'vitest'
import { cpuMsOf } from '../support/cpu.ts'
import { ALERT, ENDPOINT, PIPE, TWO, withMistake, type Mistake } from './mistaken.ts'
import { findingsOf, parse } from './support.ts'

const ONE_COMMA = '{ name: amount, type: Int64 }'
const REFERENCE = '{ secretRef: { name: kafka, key: username } }'

/* What is no YAML, or not the YAML that was meant: the line that is wrong, and what to write there. */

const MISTAKES: readonly Mistake[] = [
  {
    why: 'the first field of a mapping is too deep: it is blamed, and not its sibling below',
    base: PIPE,
    from: '  name: orders',
    to: '   name: orders',
    said: 'error yaml-syntax 4:4',
    hint: 'Indent it by 2 spaces, like "labels" below it.',
  },
  {
    why: 'the first field of a mapping is too shallow',
    base: PIPE,
    from: '  service',
    to: ' service',
    said: 'error yaml-syntax 11:2',
    hint: 'Indent it by 2 spaces, like "source" below it.',
  },
  {
    why: 'both depths can be read, and one of them is right',
    base: PIPE,
    from: '      topics',
    to: '     topics',
    said: 'error yaml-syntax 15:6',
    hint: 'Indent it by 6 spaces, like "brokers" above it.',
  },
  {
    why: 'a field at the depth of its parent: the one after it is right',
    base: PIPE,
    from: '      topics',
    to: '    topics',
    said: 'error yaml-syntax 15:5',
    hint: 'Indent it by 6 spaces, like "brokers" above it.',
  },
  {
    why: 'the very first line',
    base: PIPE,
    from: 'apiVersion',
    to: ' apiVersion',
    said: 'error yaml-syntax 1:2',
    hint: 'Begin it without spaces, like "kind" below it.',
  },
  {
    why: 'a field of an item is not aligned with the one before it',
    base: PIPE,
    from: '        type: UUID',
    to: '       type: UUID',
    said: 'error yaml-syntax 27:8',
    hint: 'Indent it by 8 spaces, like "name" above it.',
  },
  {
    why: 'the first dash of a list is too deep: the item below it is right',
    base: PIPE,
    from: '      - name: id',
    to: '       - name: id',
    said: 'error yaml-syntax 26:8',
    hint: 'Indent it by 6 spaces, like the "-" below it.',
  },
  {
    why: 'an item too shallow',
    base: ENDPOINT,
    from: '    - key-2',
    to: '   - key-2',
    said: 'error yaml-syntax 12:4',
    hint: 'Indent it by 4 spaces, like the "-" above it.',
  },
  {
    why: 'an item too deep is YAML, and a part of the text above it',
    base: ENDPOINT,
    from: '    - key-2',
    to: '     - key-2',
    said: 'warning yaml-style 12:6',
    hint: 'Indent it like the "-" above it. If it is a part of the text, put the text in quotes.',
  },
  {
    why: 'a mapping is not indented: it is YAML, and its field seems unknown',
    base: PIPE,
    from: '    replicas',
    to: '  replicas',
    said: 'error unknown-field 34:3',
    hint: 'Indent it by 4 spaces.',
  },
  {
    why: 'a tab instead of spaces',
    base: PIPE,
    from: '      brokers',
    to: '\t\t\tbrokers',
    said: 'error yaml-syntax 14:1',
    hint: 'Use spaces. Indent it by 6 spaces, like "topics" below it.',
  },
  {
    why: 'a tab after the dash',
    base: PIPE,
    from: '- name: id',
    to: '-\tname: id',
    said: 'error yaml-syntax 26:8',
    hint: 'Write "- ", with a space, before each item.',
  },
  {
    why: 'a comma is missing in braces',
    base: PIPE,
    from: ONE_COMMA,
    to: '{ name: amount type: Int64 }',
    said: 'error yaml-syntax 28:17',
    hint: 'Add a comma before "type".',
  },
  {
    why: 'a comma is missing at the end of a line',
    base: PIPE,
    from: ONE_COMMA,
    to: '{\n          name: amount\n          type: Int64\n        }',
    said: 'error yaml-syntax 29:17',
    hint: 'Add a comma after this.',
  },
  {
    why: 'a comma is missing between two mappings',
    base: PIPE,
    from: `      - name: id\n        type: UUID\n      - ${ONE_COMMA}`,
    to: `      [{ name: id, type: UUID } ${ONE_COMMA}]`,
    said: 'error yaml-syntax 26:31',
    hint: 'Add a comma after this.',
  },
  {
    why: 'a comma is missing in a reference, whose text is masked',
    base: PIPE,
    from: REFERENCE,
    to: '{ secretRef: { name: kafka key: username } }',
    said: 'error yaml-syntax 17:40',
    hint: 'Add a comma before "key".',
  },
  {
    why: 'a brace too many',
    base: PIPE,
    from: REFERENCE,
    to: `${REFERENCE} }`,
    said: 'error yaml-syntax 17:65',
    hint: 'Remove this "}".',
  },
  {
    why: 'no mark between two manifests',
    base: TWO,
    from: '---\n',
    to: '',
    said: 'error duplicate-field 9:1',
    hint: 'Insert a line with "---" before line 9.',
  },
  ...['--', '----', '\u2014', '  ---'].map((mark) => ({
    why: `"${mark}" is no mark`,
    base: TWO,
    from: '---\n',
    to: `${mark}\n`,
    said: `error yaml-syntax 9:${mark.startsWith(' ') ? 3 : 1}`,
    hint: 'Write three hyphens "---", without spaces before them.',
  })),
  {
    why: 'no space after a dash',
    base: PIPE,
    from: '      - name: id',
    to: '      -name: id',
    said: 'error yaml-syntax 26:7',
    hint: 'Write "- ", with a space, before each item.',
  },
  {
    why: 'no dash before the first item',
    base: PIPE,
    from: '    - sourceField: id\n',
    to: '      sourceField: id\n',
    said: 'error yaml-syntax 30:7',
    hint: 'Write "- " before "sourceField", and the "-" below the one of the next item.',
  },
  {
    why: 'a dash where one value belongs',
    base: PIPE,
    from: 'service: analytics',
    to: 'service: - analytics',
    said: 'error yaml-syntax 11:12',
    hint: 'Remove the "- ": one value belongs here.',
  },
  {
    why: 'a dash behind the name of a list',
    base: ENDPOINT,
    from: 'openApiKeys:\n    - key-1\n    - key-2',
    to: 'openApiKeys: - key-1',
    said: 'error yaml-syntax 10:16',
    hint: 'Put the value in brackets instead: [value].',
  },
  {
    why: 'a dash before a field',
    base: ALERT,
    from: '    threshold',
    to: '    - threshold',
    said: 'error yaml-syntax 11:5',
    hint: 'Remove the "- ", so that this is a field beside "name".',
  },
  {
    why: 'no space after a colon',
    base: PIPE,
    from: 'topics: orders',
    to: 'topics:orders',
    said: 'error yaml-syntax 15:7',
    hint: 'Write "topics: ", with a space, before the value.',
  },
  {
    why: 'a full-width colon',
    base: PIPE,
    from: 'topics: orders',
    to: 'topics： orders',
    said: 'error yaml-syntax 15:13',
    hint: 'Write ":" and a space in its place.',
  },
  {
    why: 'full-width colons wherever one is typed are said once',
    base: PIPE,
    from: '    database: shop\n    table: orders\n    columns:\n      - name: id',
    to: '    database：shop\n    table：orders\n    columns:\n      - name：id',
    said: 'error yaml-syntax 23:13',
    hint: 'Write ":" and a space in its place. 2 more below are of that sort.',
  },
  ...['\u2010', '\u2013', '\u2014', '\u2212', '\u2022'].map((dash) => ({
    why: `"${dash}" begins no item`,
    base: PIPE,
    from: '- name: id',
    to: `${dash} name: id`,
    said: 'error yaml-syntax 26:7',
    hint: 'Write "-" in its place.',
  })),
  {
    why: 'an en dash before an item in braces',
    base: PIPE,
    from: '- { sourceField',
    to: '\u2013 { sourceField',
    said: 'error yaml-syntax 32:5',
    hint: 'Write "-" in its place.',
  },
  {
    why: 'em dashes before all items are said once',
    base: PIPE,
    from: '    - sourceField: id\n      destinationField: id\n    -',
    to: '    \u2014 sourceField: id\n      destinationField: id\n    \u2014',
    said: 'error yaml-syntax 30:5',
    hint: 'Write "-" in its place. 1 more below is of that sort.',
  },
  {
    why: 'a template of Jinja: a condition',
    base: PIPE,
    from: '  scaling:',
    to: '  {% if big %}\n  scaling:',
    said: 'error template 33:3',
    hint: 'Render it first, and put the result here; name the template in .pipewrightignore.',
  },
  {
    why: 'a template of Jinja: a value in quotes',
    base: PIPE,
    from: 'service: analytics',
    to: 'service: "{% raw %}x{% endraw %}"',
    said: 'error template 11:12',
    hint: 'Render it first, and put the result here; name the template in .pipewrightignore.',
  },
  {
    why: 'a template of ERB: a condition',
    base: PIPE,
    from: '  scaling:',
    to: '<% if big %>\n  scaling:',
    said: 'error template 33:1',
    hint: 'Render it first, and put the result here; name the template in .pipewrightignore.',
  },
  {
    why: 'a template of ERB: a value that could be one',
    base: PIPE,
    from: 'topics: orders',
    to: 'topics: <%= topics %>',
    said: 'warning template 15:15',
    hint: 'Render it first, and put the result here; name the template in .pipewrightignore.',
  },
  ...['${TOPICS:-orders}', '${var.topics}', '$(TOPICS)', '$TOPICS'].map((to) => ({
    why: `${to} is filled in by nobody`,
    base: PIPE,
    from: 'topics: orders',
    to: `topics: ${to}`,
    said: 'warning placeholder 15:15',
    hint: 'Write the value itself.',
  })),
  {
    why: 'a comment of another language is a part of the text',
    base: PIPE,
    from: 'topics: orders',
    to: 'topics: orders // all of them',
    said: 'warning yaml-style 15:22',
    hint: 'Write "#" in its place. If it is a part of the text, put the text in quotes.',
  },
  {
    why: 'such a comment behind a number',
    base: PIPE,
    from: 'replicas: 2',
    to: 'replicas: 2 // two',
    said: 'error yaml-style 34:17',
    hint: 'Write "#" in its place. If it is a part of the text, put the text in quotes.',
  },
  {
    why: 'a variable where a reference may stand',
    base: PIPE,
    from: REFERENCE,
    to: '${USERNAME}',
    said: 'warning placeholder 17:19',
    hint: 'Write the value, or {secretRef: {name: …, key: …}}.',
  },
  {
    why: 'a variable inside braces where a reference may stand',
    base: PIPE.replace(`username: ${REFERENCE}`, ''),
    from: 'credentials:\n',
    to: 'credentials: { username: ${USERNAME} }\n',
    said: 'error placeholder 16:32',
    hint: 'Write the value, or {secretRef: {name: …, key: …}}.',
  },
  {
    why: 'a variable in the name of a manifest, where no reference may stand',
    base: PIPE,
    from: 'name: orders',
    to: 'name: $NAME',
    said: 'error placeholder 4:9',
    hint: 'Write the value itself.',
  },
  {
    why: 'a colon in a text, and a comment behind it',
    base: PIPE,
    from: 'topics: orders',
    to: 'topics: orders: new # and no other',
    said: 'error yaml-syntax 15:15',
    hint: 'Put the value in quotes.',
  },
  {
    why: 'a colon in a password',
    base: PIPE,
    from: 'password:\n          secretRef:\n            name: kafka\n            key: password',
    to: 'password: a: b',
    said: 'error yaml-syntax 18:19',
    hint: 'Write {secretRef: {name: …, key: …}}.',
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
    hint: 'Write username: {secretRef: {name: kafka, key: username}}.',
  },
  {
    why: 'such a tag before what may be a secret',
    base: PIPE,
    from: REFERENCE,
    to: '!vault "sKDJ3j2h4"',
    said: 'error yaml-tag 17:19',
    hint: 'Write username: {secretRef: {name: …, key: …}}.',
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
    why: 'a variable inside braces is no YAML',
    base: PIPE,
    from: 'name: amount',
    to: 'name: ${NAME}',
    said: 'error placeholder 28:17',
    hint: 'Write the value itself.',
  },
  {
    why: 'a zero-width space in a value',
    base: PIPE,
    from: 'analytics',
    to: 'ana\u200blytics',
    said: 'error unseen-character 11:15',
    hint: 'Delete it, or type the word again.',
  },
  {
    why: 'a zero-width space in the name of a field',
    base: PIPE,
    from: 'topics:',
    to: 'top\u200bics:',
    said: 'error unseen-character 15:10',
    hint: 'Delete it, or type the word again.',
  },
  {
    why: 'a no-break space as indentation',
    base: PIPE,
    from: '      topics',
    to: '\u00a0     topics',
    said: 'error unseen-character 15:1',
    hint: 'Type a space in its place.',
  },
  {
    why: 'several of them in a line',
    base: PIPE,
    from: '  service',
    to: '\u00a0\u00a0service',
    said: 'error unseen-character 11:1',
    hint: 'Type a space in its place. This line holds 1 more of that sort.',
  },
  {
    why: 'a no-break space after the colon',
    base: PIPE,
    from: 'topics: orders',
    to: 'topics:\u00a0orders',
    said: 'error unseen-character 15:14',
    hint: 'Type a space in its place.',
  },
  {
    why: 'a no-break space at the end of a value',
    base: PIPE,
    from: 'topics: orders',
    to: 'topics: orders\u00a0',
    said: 'warning unseen-character 15:21',
    hint: 'Delete it, or type a space in its place.',
  },
  {
    why: 'a byte order mark in the middle of a file',
    base: TWO,
    from: '---\n',
    to: '---\n\ufeff',
    said: 'error unseen-character 10:1',
    hint: 'Delete it, or type the word again.',
  },
  {
    why: 'a left-to-right mark',
    base: PIPE,
    from: 'topics: orders',
    to: 'topics: orders\u200e',
    said: 'warning unseen-character 15:21',
    hint: 'Delete it, or type the word again.',
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

  test.each([-2, -1, 1, 2, 3])('by %i: that line is blamed, and its right depth said', (by) => {
    for (const [index, line] of lines.entries()) {
      const right = line.length - line.trimStart().length
      if (right + by < 0) continue
      const moved = lines.with(index, ' '.repeat(right + by) + line.trimStart())
      const findings = findingsOf(parse(`${moved.join('\n')}\n`))
      // What can still be read as it was meant is no mistake.
      if (findings.length === 0) continue
      const hint = right === 0 ? 'Begin it without spaces' : `Indent it by ${right} space`
      expect(findings).toMatchObject([{ line: index + 1, hint: expect.stringContaining(hint) }])
    }
  })

  test('so are several lines, each said', () => {
    const text = PIPE.replace('      topics', '       topics').replace('    table', '     table')
    expect(saidOf(text)).toEqual([
      'error yaml-syntax 15:8 Indent it by 6 spaces, like "brokers" above it.',
      'error yaml-syntax 24:6 Indent it by 4 spaces, like "database" above it.',
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
