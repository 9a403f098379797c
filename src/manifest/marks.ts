/**
 * Where the marks of YAML that begin a value or separate two exceed `limit`, as an offset, or `undefined`. Each costs
 * the parser about ten microseconds, so that their number, and not that of bytes, is what a hostile file is made of.
 * Knows no quotes: a long text may hold such marks too, but not a hundred thousand of them.
 */
export function findTooMany(text: string, limit: number): number | undefined {
  if (text.length <= limit) return undefined
  let count = 0
  let fresh = true
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === LINE_BREAK) fresh = true
    else if (MARKS.has(code) || isLoose(code, text.charCodeAt(at + 1))) count += 1
    else if (fresh && code > SPACE) {
      count += 1
      fresh = false
    }
    if (count > limit) return at
  }
  return undefined
}

const LINE_BREAK = 10
const SPACE = 32

/** The codes of `[`, `{`, `,`, `:`, `&`, `*`, `!`, and of the `\` of an escape. */
const MARKS: ReadonlySet<number> = new Set([91, 123, 44, 58, 38, 42, 33, 92])

/** `-` and `?`, which are marks only before white space, and quotes before white space or another one. */
function isLoose(code: number, next: number): boolean {
  if (code === 45 || code === 63) return next <= SPACE
  return isQuote(code) && (next <= SPACE || isQuote(next))
}

function isQuote(code: number): boolean {
  return code === 34 || code === 39
}
