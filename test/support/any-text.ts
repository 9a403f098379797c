import * as fc from 'fast-check'

/** Any code point. `unit: 'binary'` of fast-check makes a table of all of them, which takes a second. */
const CHARACTER = fc.nat(0x10ffff).map((code) => String.fromCodePoint(code))

/** A text that need not be well-formed. */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.string({ unit: CHARACTER, maxLength })
}
