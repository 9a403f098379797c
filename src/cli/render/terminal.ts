import { stripVTControlCharacters, styleText } from 'node:util'
import { formatDuration } from '../../lib/duration.ts'
import { TURNING } from '../../lib/shown-text.ts'
import { type StepContext, withCommands } from '../../plan/step.ts'
import { type Io, print } from '../io.ts'

/** Aligns columns. Colour codes count as no width. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(cell))
    })
  }
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === row.length - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export function fitLines(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => fitLine(line, width))
    .join('\n')
}

// eslint-disable-next-line no-control-regex -- colours begin with a control character
const COLOUR = /\u001b\[[\d;]*m/g

function fitLine(line: string, width: number): string {
  if (widthOf(line) <= width) return line
  let room = width - 1
  let fitted = ''
  let from = 0
  for (const match of line.matchAll(COLOUR)) {
    const text = line.slice(from, match.index).slice(0, room)
    fitted += text + match[0]
    room -= text.length
    from = match.index + match[0].length
  }
  return `${fitted}${line.slice(from).slice(0, room)}…`
}

const COLUMNS = 80

export function wrapped(text: string, indent: string, width = COLUMNS): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].map((one) => indent + one).join('\n')
}

/** @param unknown the width of a file, a pipe or a terminal that does not tell it */
export function widthOfTerminal(stream: NodeJS.WritableStream, unknown = Infinity): number {
  const columns = isTerminal(stream) && 'columns' in stream ? stream.columns : undefined
  return typeof columns === 'number' && columns > 0 ? columns : unknown
}

export function isTerminal(stream: NodeJS.WritableStream): boolean {
  return 'isTTY' in stream && stream.isTTY === true
}

function widthOf(cell: string): number {
  return stripVTControlCharacters(cell).length
}

/** Replaces control characters in texts from manifests and replies. Pipewright's own colours stay. */
export function plainText(text: string): string {
  return text.replaceAll(HARMFUL, '\u{fffd}')
}

export function warn({ stderr }: Pick<Io, 'stderr'>, text: string, commands?: StepContext): void {
  print(stderr, plainText(`pipewright: ${withCommands(text, commands)}`))
}

const HARMFUL = new RegExp(
  String.raw`\u001b(?!\[(?:0|1|2|22|3[1-6]|39)m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f${TURNING}]`,
  'g',
)

export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string

export function paintFor({ stdout, env }: Pick<Io, 'stdout' | 'env'>): Paint {
  if (!isTerminal(stdout) || (env['NO_COLOR'] ?? '') !== '') return (_style, text) => text
  return (style, text) => styleText(style, text, { validateStream: false })
}

export interface Sheet {
  readonly paint: Paint
  /** In columns. Infinity: a file, a pipe or an unknown width. */
  readonly width: number
}

export function sheetOf(io: Pick<Io, 'stdout' | 'env'>): Sheet {
  return { paint: paintFor(io), width: widthOfTerminal(io.stdout) }
}

export function agoOf(at: number | undefined, now: number): string {
  if (at === undefined) return 'never'
  const age = Math.max(0, now - at)
  return age < 1_000 ? 'just now' : `${formatDuration(age)} ago`
}
