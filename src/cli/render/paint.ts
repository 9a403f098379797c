import { styleText } from 'node:util'

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
