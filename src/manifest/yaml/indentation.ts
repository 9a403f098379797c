import {
  indentOf,
  linesAround,
  nextLine,
  previousLine,
  shownField,
  syntaxError,
  type Line,
  type Repair,
} from './repair.ts'

/** Other depths than these are not tried for one line. */
const MOST_DEPTHS = 6

/** Lines above that are looked at for their depths. */
const LOOKED_AT = 200

/**
 * The ways to indent one of the lines around a mistake like one of its neighbours. The likeliest come first: lines that do not stand on
 * the grid of the others, and small moves. Which of them is right, whoever tries them sees.
 * @param offset where the parser noticed it
 */
export function indentRepairs(text: string, offset: number): readonly Repair[] {
  const step = stepOf(text)
  return [...linesAround(text, offset), ...lineAround(text, offset)]
    .flatMap((line) => movesOf(text, line).map((spaces) => ({ line, spaces })))
    .map((move) => ({ ...move, unlikely: unlikeliness(text, move, step) }))
    .toSorted((a, b) => a.unlikely - b.unlikely)
    .map(({ line, spaces }) => moved(text, line, spaces))
}

/** The line in which the one of the mistake stands, when that is not the one before it: a block may stand too far out as a whole. */
function lineAround(text: string, offset: number): readonly Line[] {
  const [line] = linesAround(text, offset)
  if (line === undefined) return []
  const before = previousLine(text, line)
  let above = before
  for (let count = 0; above !== undefined && count < LOOKED_AT; count += 1) {
    if (indentOf(above) < indentOf(line)) return above === before ? [] : [above]
    above = previousLine(text, above)
  }
  return []
}

interface Move {
  readonly line: Line
  readonly spaces: number
}

function unlikeliness(text: string, { line, spaces }: Move, step: number): number {
  const now = blankOf(line).length
  const above = previousLine(text, line)
  const isBelowValue = above !== undefined && !/[:|>-]\s*$/.test(above.text) && now > contentOf(above)
  const most = above === undefined ? 0 : contentOf(above) + Math.max(step, 2)
  const isOff = now % step !== 0 || blankOf(line).includes('\t') || isBelowValue || now > most
  return (isOff ? 0 : 100) + (spaces % step === 0 ? 0 : 50) + Math.min(49, Math.abs(now - spaces))
}

/** The number of spaces by which most lines are deeper than those that they stand in: 4, 2, or 1 where there is no such number. */
function stepOf(text: string): number {
  const depths = (text.match(/^ +(?=[^\s#])/gm) ?? []).slice(0, 1_000).map((blank) => blank.length)
  const isStep = (step: number) => depths.filter((depth) => depth % step === 0).length >= 0.8 * depths.length
  return [4, 2].find(isStep) ?? 1
}

function movesOf(text: string, line: Line): readonly number[] {
  const now = line.text.startsWith('\t') || /^ +\t/.test(line.text) ? -1 : indentOf(line)
  const next = nextLine(text, line)
  const depths = [...depthsAbove(text, line), ...(next === undefined ? [] : [indentOf(next)])]
  return [...new Set(depths)]
    .filter((depth) => depth !== now)
    .toSorted((a, b) => Math.abs(a - now) - Math.abs(b - now))
    .slice(0, MOST_DEPTHS)
}

/** The depths of the line above, of what it stands in, and of what may stand in it. */
function depthsAbove(text: string, line: Line): readonly number[] {
  const depths: number[] = []
  let above = previousLine(text, line)
  for (let count = 0; above !== undefined && count < LOOKED_AT && depths.at(-1) !== 0; count += 1) {
    const outer = indentOf(above)
    const content = contentOf(above)
    if (count === 0) depths.push(content + 2)
    if (content < (depths.at(-1) ?? Infinity)) depths.push(content)
    if (outer < (depths.at(-1) ?? Infinity)) depths.push(outer)
    above = previousLine(text, above)
  }
  return depths
}

/** Where the content of an item of a list begins. */
function contentOf({ text }: Line): number {
  return /^ *(?:- +)*/.exec(text)?.[0].length ?? 0
}

function blankOf({ text }: Line): string {
  return /^[ \t]*/.exec(text)?.[0] ?? ''
}

function moved(text: string, line: Line, spaces: number): Repair {
  const blank = blankOf(line)
  const start = line.start + blank.length
  const word = /^(?:- *)?[^\s:]*/.exec(line.text.slice(blank.length))?.[0] ?? ''
  const tab = blank.indexOf('\t')
  const neighbour = siblingOf(text, line, spaces)
  const like = neighbour === undefined ? '' : `, like ${neighbour}`
  const hint = spaces === 0 ? `Begin it without spaces${like}.` : `Indent it by ${counted(spaces)}${like}.`
  const right = spaces === 0 ? 'should not be' : `${spaces} would be right`
  return {
    edit: { start: line.start, end: start, text: ' '.repeat(spaces) },
    range:
      tab === -1 ? { start, end: start + Math.max(1, word.length) } : { start: line.start + tab, end: start },
    statement:
      tab === -1
        ? syntaxError(`This line is indented by ${counted(blank.length)}, and ${right}.`, hint)
        : syntaxError('A tab is used as indentation.', `Use spaces. ${hint}`),
  }
}

function counted(spaces: number): string {
  return `${spaces} space${spaces === 1 ? '' : 's'}`
}

/** The nearest field, or item, at that depth in the same collection: above it, or below. */
function siblingOf(text: string, line: Line, spaces: number): string | undefined {
  const isItem = line.text.trimStart().startsWith('-')
  for (const walk of [previousLine, nextLine]) {
    const where = walk === previousLine ? 'above it' : 'below it'
    let other = walk(text, line)
    for (let count = 0; other !== undefined && count < LOOKED_AT; count += 1) {
      const isOtherItem = other.text.trimStart().startsWith('-')
      if (isItem && isOtherItem && indentOf(other) === spaces) return `the "-" ${where}`
      const name = shownField(other)
      if (!isItem && contentOf(other) === spaces && name !== undefined) return `${name} ${where}`
      if (indentOf(other) < spaces) break
      other = walk(text, other)
    }
  }
  return undefined
}
