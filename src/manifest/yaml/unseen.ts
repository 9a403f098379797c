import { OVERRIDES } from '../../lib/shown-text.ts'
import type { Statement } from '../diagnostics/diagnostic.ts'
import type { Range } from './node-range.ts'
import { linesAround, type Repair } from './repair.ts'

/* Characters that nobody sees, and that make one text another. */

/** Look like a space, and are none. */
const SPACES: Readonly<Record<string, string>> = {
  '\u00a0': 'a no-break space',
  '\u1680': 'an Ogham space',
  '\u202f': 'a narrow no-break space',
  '\u205f': 'a mathematical space',
  '\u3000': 'an ideographic space',
}

/** Are not seen at all. */
const NOTHING: Readonly<Record<string, string>> = {
  '\u00ad': 'a soft hyphen',
  '\u200b': 'a zero-width space',
  '\u200c': 'a zero-width non-joiner',
  '\u200d': 'a zero-width joiner',
  '\u200e': 'a left-to-right mark',
  '\u200f': 'a right-to-left mark',
  '\u2028': 'a line separator',
  '\u2029': 'a paragraph separator',
  '\u2060': 'a word joiner',
  '\ufeff': 'a byte order mark',
}

export const UNSEEN = /[\u00a0\u00ad\u1680\u2000-\u200f\u2028-\u202f\u205f\u2060\u2066-\u2069\u3000\ufeff]/
const SPACE = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g
const ZERO_WIDTH = /[\u00ad\u200b-\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g

/** Words that are written from the right, or whose letters are joined by such characters. */
const NEEDS_THEM = /[\u0590-\u08ff\u0900-\u0dff\ufb1d-\ufefc\u{1f000}-\u{1faff}\u2600-\u27bf]/u

/** What is said of one such character. @param column from 1 */
export function unseenStatement(character: string, column: number): Statement {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  const isSpace = character.search(SPACE) === 0
  const name = SPACES[character] ?? NOTHING[character] ?? (isSpace ? 'a special space' : 'a direction mark')
  return {
    // a line that is turned around reads as something that it is not
    severity: OVERRIDES.test(character) ? 'error' : 'warning',
    code: 'unseen-character',
    message: isSpace
      ? `At column ${column} stands ${name} (U+${code}), which only looks like a space.`
      : `At column ${column} stands ${name} (U+${code}), which nobody can see.`,
    hint: isSpace ? 'Delete it, or type a space in its place.' : 'Delete it, or type the word again.',
  }
}

/**
 * The first character of a name or a value that is not seen and has no business there.
 * @param source as it stands in the text, escapes and all: an escape is meant
 */
export function unseenIn(source: string): number | undefined {
  const override = source.search(OVERRIDES)
  if (override !== -1) return override
  if (!UNSEEN.test(source) || NEEDS_THEM.test(source)) return undefined
  const zeroWidth = source.search(ZERO_WIDTH)
  if (zeroWidth !== -1) return zeroWidth
  // Inside a sentence such a space may be meant; at the edge of a text, or as its only space, it is not.
  const first = source.charAt(0)
  const last = source.charAt(source.length - 1)
  if (first.search(SPACE) === 0) return 0
  if (last.search(SPACE) === 0) return source.length - 1
  return source.includes(' ') ? undefined : source.search(SPACE)
}

/** The lines around a mistake without what is not seen in them. */
export function unseenRepairs(text: string, offset: number): readonly Repair[] {
  return linesAround(text, offset).flatMap((line) => {
    const at = line.text.search(UNSEEN)
    if (at === -1) return []
    const statement = unseenStatement(line.text.charAt(at), at + 1)
    const more = [...line.text.matchAll(new RegExp(UNSEEN, 'g'))].length - 1
    const remedy = line.text.charAt(at).search(SPACE) === 0 ? 'Type a space in its place.' : statement.hint
    const hint = more === 0 ? remedy : `${remedy} This line holds ${more} more of that sort.`
    const clean = line.text.replaceAll(SPACE, ' ').replaceAll(ZERO_WIDTH, '')
    const range: Range = { start: line.start + at, end: line.start + at + 1 }
    return [
      {
        edit: { start: line.start, end: line.end, text: clean },
        range,
        statement: { ...statement, severity: 'error', hint },
      } satisfies Repair,
    ]
  })
}
