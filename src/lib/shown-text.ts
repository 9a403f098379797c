/** Characters that change the text direction, and line separators. */
export const TURNING = String.raw`\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069`

/** Characters that set the direction of the text after them. Excludes single marks, which right-to-left words need. */
export const OVERRIDES = /[\u202a-\u202e\u2066-\u2069]/

/** Control characters except tab and line feed. */
const UNSAFE = new RegExp(String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f${TURNING}]`, 'g')

export function printable(text: string): string {
  return text.replaceAll(UNSAFE, '\ufffd')
}

/** Escapes line breaks and characters that control a terminal or the text direction. */
export function escapeControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    character === '\n' ? '\\n' : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}
