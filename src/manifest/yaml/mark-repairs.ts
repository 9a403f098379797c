import { SECRET_FIELDS } from '../../lib/sensitive.ts'
import type { Range } from './node-range.ts'
import {
  indentOf,
  lineAt,
  linesAround,
  previousLine,
  shownField,
  syntaxError,
  type Line,
  type Repair,
} from './repair.ts'

/** Of one line, not more commas than these are tried. */
const MOST_COMMAS = 4

/** Marks of YAML that are missing, one too many, or not followed by a space, around a mistake. */
export function markRepairs(text: string, offset: number): readonly Repair[] {
  const lines = linesAround(text, offset)
  return [
    ...lines.flatMap((line) => [
      ...documentMark(line),
      ...tabAfterDash(line),
      ...spaceAfterDash(line),
      ...spaceAfterColon(line),
    ]),
    ...strayBracket(text, offset),
    ...dashInValue(lineAt(text, offset)),
    ...colonInValue(lineAt(text, offset)),
    ...lines.flatMap(missingCommas),
    ...lines.flatMap((line) => missingDash(text, line)),
    ...lines.flatMap((line) => strayDash(text, line)),
    ...lines.flatMap(missingColon),
  ]
}

/** A change of a part of a line, given from its beginning. */
function change(line: Line, range: Range, text: string): Repair['edit'] {
  return { start: line.start + range.start, end: line.start + range.end, text }
}

function marked(line: Line, start: number, end: number): Range {
  return { start: line.start + start, end: line.start + Math.max(end, start + 1) }
}

/** `--`, `----`, `———`, or a `---` that is indented. */
function documentMark(line: Line): readonly Repair[] {
  const dashes = line.text.trim()
  if (!/^[-\u2010-\u2015]{1,80}$/.test(dashes) || dashes === '-' || line.text.startsWith('---\r')) return []
  const start = line.text.indexOf(dashes)
  return [
    {
      edit: { start: line.start, end: line.end, text: '---' },
      range: marked(line, start, start + dashes.length),
      statement: syntaxError(
        'Only "---" at the beginning of a line separates two documents.',
        'Write three hyphens "---", without spaces before them.',
      ),
    },
  ]
}

function tabAfterDash(line: Line): readonly Repair[] {
  const whole = /^ *(?:- +)*-[ \t]*\t[ \t]*/.exec(line.text)?.[0]
  if (whole === undefined) return []
  const start = whole.indexOf('\t')
  return [
    {
      edit: change(line, { start: whole.trimEnd().length, end: whole.length }, ' '),
      range: marked(line, start, whole.length),
      statement: syntaxError('A tab stands after "-".', 'Write "- ", with a space, before each item.'),
    },
  ]
}

function spaceAfterDash(line: Line): readonly Repair[] {
  const before = /^ *(?:- +)*-(?=[^\s-])/.exec(line.text)?.[0].length
  if (before === undefined) return []
  return [
    {
      edit: change(line, { start: before, end: before }, ' '),
      range: marked(line, before - 1, before),
      statement: syntaxError('A space is missing after "-".', 'Write "- ", with a space, before each item.'),
    },
  ]
}

function spaceAfterColon(line: Line): readonly Repair[] {
  const [whole = '', blank = '', name = ''] =
    /^( *(?:- +)*)([A-Za-z][\w.-]{0,80}):(?=[^\s:/])/.exec(line.text) ?? []
  if (whole === '') return []
  const word = /^\S+/.exec(line.text.slice(blank.length))?.[0].length ?? 1
  return [
    {
      edit: change(line, { start: whole.length, end: whole.length }, ' '),
      range: marked(line, blank.length, blank.length + word),
      statement: syntaxError(
        'A space is missing after ":".',
        `Write "${name}: ", with a space, before the value.`,
      ),
    },
  ]
}

function missingColon(line: Line): readonly Repair[] {
  const [whole = '', blank = ''] = /^( *(?:- +)*)([A-Za-z][\w-]{0,80})(?= +[^\s:]|$)/.exec(line.text) ?? []
  if (whole === '') return []
  return [
    {
      edit: change(line, { start: whole.length, end: whole.length }, ':'),
      range: marked(line, blank.length, line.text.trimEnd().length),
      statement: syntaxError('A field has a name but no ":".', 'Write "name: value".'),
    },
  ]
}

/** A `}` or `]` that closes nothing. */
function strayBracket(text: string, offset: number): readonly Repair[] {
  const bracket = text.charAt(offset)
  if (bracket !== '}' && bracket !== ']') return []
  const range = { start: offset, end: offset + 1 }
  const statement = syntaxError(`This "${bracket}" closes nothing.`, `Remove this "${bracket}".`)
  return [{ edit: { ...range, text: '' }, range, statement }]
}

/** `field: - item`: a list begins on a line of its own, or stands in brackets. */
function dashInValue(line: Line): readonly Repair[] {
  const [whole = ''] = /^ *(?:- +)*[A-Za-z][\w.-]{0,80}: +- +(?=\S)/.exec(line.text) ?? []
  if (whole === '') return []
  const dash = whole.lastIndexOf('-')
  const end = line.text.trimEnd().length
  const value = line.text.slice(whole.length, end)
  const range = marked(line, dash, dash + 1)
  const message = 'An item of a list cannot stand behind the ":".'
  return [
    {
      edit: change(line, { start: dash, end: whole.length }, ''),
      range,
      statement: syntaxError(message, 'Remove the "- ": one value belongs here.'),
    },
    {
      edit: change(line, { start: dash, end }, `[${value}]`),
      range,
      statement: syntaxError(message, 'Put the value in brackets instead: [value].'),
    },
  ]
}

/** `field: a: b`: a text with ": " in it. */
function colonInValue(line: Line): readonly Repair[] {
  const [whole = '', name = ''] =
    /^ *(?:- +)*([A-Za-z][\w.-]{0,80}): +(?=[^\s"'{[|>&*!#][^#]*: )/.exec(line.text) ?? []
  if (whole === '') return []
  const comment = line.text.search(/[ \t]#/)
  const end = line.text.slice(0, comment === -1 ? undefined : comment).trimEnd().length
  return [
    {
      edit: change(line, { start: whole.length, end }, JSON.stringify(line.text.slice(whole.length, end))),
      range: marked(line, whole.length, end),
      statement: syntaxError(
        'A ": " stands inside a text that has no quotes.',
        SECRET_FIELDS.has(name) ? 'Write {secretRef: {name: …, key: …}}.' : 'Put the value in quotes.',
      ),
    },
  ]
}

/** Before a name with its ":", between two brackets, and at the end of a line. */
function missingCommas(line: Line): readonly Repair[] {
  const gaps = [
    ...line.text.matchAll(/(?<=[^\s,{[:])[ \t]+(?=["']?\w[\w.-]{0,80}["']?:[ \t])|(?<=[}\]])[ \t]*(?=[{[])/g),
  ]
    .slice(0, MOST_COMMAS)
    .map(({ index }) => index)
  const end = line.text.trimEnd().length
  const ends = /[^\s,{[:]$/.test(line.text.slice(0, end)) ? [end] : []
  return [...gaps, ...ends].map((at) => {
    const before = /[^\s,{[]{1,40}$/.exec(line.text.slice(Math.max(0, at - 40), at))?.[0].length ?? 1
    const after = /^[ \t]*([A-Za-z][\w.-]{0,39}):/.exec(line.text.slice(at))?.[1]
    return {
      edit: change(line, { start: at, end: at }, ','),
      range: marked(line, at - before, at),
      statement: syntaxError(
        'A comma is missing between two entries.',
        after === undefined ? 'Add a comma after this.' : `Add a comma before "${after}".`,
      ),
    }
  })
}

/** Above an item of a list, fields that were to be one: the first of them has no "- ". */
function missingDash(text: string, item: Line): readonly Repair[] {
  if (!item.text.trimStart().startsWith('- ')) return []
  const above = previousLine(text, item)
  if (above === undefined) return []
  const depth = indentOf(above)
  let first = above
  let line = previousLine(text, above)
  for (let count = 0; line !== undefined && indentOf(line) >= depth && count < 100; count += 1) {
    if (line.text.trimStart().startsWith('-')) return []
    if (indentOf(line) === depth) first = line
    line = previousLine(text, line)
  }
  const name = shownField(first)
  if (name === undefined || first.text.trimStart().startsWith('-')) return []
  const spaces = indentOf(item)
  return [
    {
      edit: change(first, { start: 0, end: depth }, `${' '.repeat(spaces)}- `),
      range: marked(first, depth, depth + name.length - 2),
      statement: syntaxError(
        'A "-" is missing: this field stands among the items of a list.',
        `Write "- " before ${name}, and the "-" below the one of the next item.`,
      ),
    },
  ]
}

/** `- ` before a field of a mapping. */
function strayDash(text: string, line: Line): readonly Repair[] {
  const before = /^ *- +(?=[A-Za-z])/.exec(line.text)?.[0].length
  const above = previousLine(text, line)
  if (before === undefined || above === undefined) return []
  const depth = indentOf(line)
  const name = shownField(above)
  if (name === undefined || indentOf(above) !== depth || above.text.trimStart().startsWith('-')) return []
  return [
    {
      edit: change(line, { start: depth, end: before }, ''),
      range: marked(line, depth, depth + 1),
      statement: syntaxError(
        'A "-" stands before a field of a mapping.',
        `Remove the "- ", so that this is a field beside ${name}.`,
      ),
    },
  ]
}
