import { linesAround, syntaxError, type Line, type Repair } from './repair.ts'

/* Marks of YAML in the form that a word processor, or the keyboard of another script, gives them. */

const COLONS: Readonly<Record<string, string>> = {
  '\uff1a': 'a full-width colon',
  '\ufe55': 'a small colon',
  '\ufe13': 'a vertical colon',
  '\u2236': 'a ratio sign',
  '\ua789': 'a letter colon',
}

const DASHES: Readonly<Record<string, string>> = {
  '\u2010': 'a typographic hyphen',
  '\u2011': 'a no-break hyphen',
  '\u2012': 'a figure dash',
  '\u2013': 'an en dash',
  '\u2014': 'an em dash',
  '\u2015': 'a horizontal bar',
  '\u2212': 'a minus sign',
  '\u2022': 'a bullet',
}

const COLON = new RegExp(
  `^( *(?:- +)*["']?[A-Za-z][\\w.-]{0,80}["']?)([${Object.keys(COLONS).join('')}])[ \\t]*`,
  'gm',
)
const DASH = new RegExp(`^( *)([${Object.keys(DASHES).join('')}])(?=[ \\t])`, 'gm')

/** The lines around a mistake with the mark that was meant; the same in all lines below, since it is typed more than once. */
export function lookAlikeRepairs(text: string, offset: number): readonly Repair[] {
  return linesAround(text, offset).flatMap((line) => [
    ...repairOf(text, line, { pattern: COLON, right: '$1: ', wordsFor: colonWords }),
    ...repairOf(text, line, { pattern: DASH, right: '$1-', wordsFor: dashWords }),
  ])
}

type Words = readonly [message: string, hint: string]

function repairOf(
  text: string,
  line: Line,
  {
    pattern,
    right,
    wordsFor,
  }: { readonly pattern: RegExp; readonly right: string; readonly wordsFor: (mark: string) => Words },
): readonly Repair[] {
  const [first] = line.text.matchAll(pattern)
  const [, before = '', mark = ''] = first ?? []
  if (mark === '') return []
  const below = text.slice(line.start)
  const more = below.match(pattern)?.length ?? 1
  const [message, hint] = wordsFor(mark)
  const start = line.start + before.length
  return [
    {
      edit: { start: line.start, end: text.length, text: below.replaceAll(pattern, right) },
      range: { start, end: start + 1 },
      statement: syntaxError(
        message,
        more === 1 ? hint : `${hint} ${more - 1} more below ${more === 2 ? 'is' : 'are'} of that sort.`,
      ),
    },
  ]
}

function colonWords(mark: string): Words {
  return [`"${mark}" is ${COLONS[mark]}, and no ":".`, 'Write ":" and a space in its place.']
}

function dashWords(mark: string): Words {
  return [`"${mark}" is ${DASHES[mark]}, and begins no item of a list.`, 'Write "-" in its place.']
}

/** What to write for a text that begins with such a dash. */
export function dashBefore(text: string): string | undefined {
  const mark = /^(\S)[ \t]/.exec(text)?.[1]
  return mark === undefined || !Object.hasOwn(DASHES, mark)
    ? undefined
    : `"${mark}" is ${DASHES[mark]}: write "-" in its place.`
}

/** The field that a name with such a colon in it was meant to be: in braces it is one name. */
export function hasColonAfter(name: string, field: string): boolean {
  return name.startsWith(field) && Object.hasOwn(COLONS, name.charAt(field.length))
}
