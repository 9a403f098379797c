import { stripVTControlCharacters, styleText } from 'node:util'

/** Columns side by side, each as wide as its widest cell; colour does not count. */
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

function widthOf(cell: string): number {
  return stripVTControlCharacters(cell).length
}

/** What comes from a manifest or the platform, made harmless for a terminal. Colours stay: they do no harm, and are mostly ours. */
export function printable(text: string): string {
  return text.replaceAll(HARMFUL, '\u{fffd}')
}

// eslint-disable-next-line no-control-regex -- control characters are what it is about
const HARMFUL = /\u001b(?!\[[\d;]{1,12}m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g

type Style = Parameters<typeof styleText>[0]

/** Colours text where people read it: on a terminal, and never with `NO_COLOR`. */
export type Paint = (style: Style, text: string) => string

export function paintFor(
  stream: NodeJS.WritableStream,
  env: Readonly<Record<string, string | undefined>>,
): Paint {
  const terminal = 'isTTY' in stream && stream.isTTY === true
  const wanted = env['NO_COLOR'] === undefined || env['NO_COLOR'] === ''
  if (!terminal || !wanted) return (_style, text) => text
  return (style, text) => styleText(style, text, { validateStream: false })
}
