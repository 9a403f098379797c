/** What became of one text: a value, or what is wrong with it and what would be right. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false
      readonly why: string
      readonly right: string
      /** The text may hold a secret, and must not be shown. */ readonly hide?: true
    }

export type Parser<T> = (text: string) => Parsed<T>

export function good<T>(value: T): Parsed<T> {
  return { ok: true, value }
}

export function bad(why: string, right: string): Parsed<never> {
  return { ok: false, why, right }
}
