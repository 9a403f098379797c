/*
 * Characters that let a text draw on the screen of its reader: controls, which a terminal obeys, and those that turn text around,
 * after which a line reads as something that it is not.
 */

/** Marks, embeddings, overrides and isolates of the bidirectional algorithm, and separators of lines. */
export const TURNING = String.raw`\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069`

/** Of these the ones that change how everything behind them reads. A single mark is at home in words from the right. */
export const OVERRIDES = /[\u202a-\u202e\u2066-\u2069]/

/** All but tab and line feed. */
const UNSAFE = new RegExp(String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f${TURNING}]`, 'g')

/** A text that is safe to print. */
export function printable(text: string): string {
  return text.replaceAll(UNSAFE, '\ufffd')
}

const HIDDEN = new RegExp(String.raw`[\p{Cc}${TURNING}\u200b\u2060\ufeff]`, 'u')

/** Whether a text reads as what it is: nothing in it is obeyed by a terminal, turns it around or cannot be seen. */
export function isPlainlyShown(text: string): boolean {
  return !HIDDEN.test(text)
}
