import { stripVTControlCharacters } from 'node:util'
import { printable } from './terminal.ts'

/**
 * What means something in Markdown or HTML (an underscore within a word does not), what GitHub makes a mention or a link to an
 * issue of, and what makes a link of an address.
 */
const MARKUP = /[&<>|\\`*[\]~]|(?<!\w)_|_(?!\w)|@(?=\w)|#(?=\d)|:(?=\/\/)|\bw(?=ww\.)/gi

/** Between the sign of a reference and the name: nobody sees it, and it is no reference any more. */
const NO_WIDTH = '&#8203;'

/** A text of somebody else, on one line, that Markdown shows as it stands: also in a cell of a table. */
export function asMarkdown(text: string): string {
  return oneLine(text).replaceAll(MARKUP, (sign) =>
    sign === '@' || sign === '#' ? `${sign}${NO_WIDTH}` : `&#${sign.codePointAt(0)};`,
  )
}

/** The same in the letters of code. */
export function codeInMarkdown(text: string): string {
  const line = oneLine(text)
  // Within backticks nothing can be escaped.
  return /[`|\\]/.test(line) ? `<code>${asMarkdown(line)}</code>` : `\`${line}\``
}

function oneLine(text: string): string {
  return printable(stripVTControlCharacters(text)).replaceAll(/\s*\n\s*/g, ' ')
}
