/* Cells of the tables in docs/. */

export function code(text: string): string {
  return `\`${cell(text)}\``
}

export function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`)
}
