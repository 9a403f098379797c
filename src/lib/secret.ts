import { inspect } from 'node:util'

const SHOWN = '[secret]'

/** A value that cannot print itself: every way of turning it into text gives `[secret]`, but `reveal`. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The value itself. Call it only where it goes onto the wire or into a keyed hash. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return SHOWN
  }

  toJSON(): string {
    return SHOWN
  }

  [inspect.custom](): string {
    return SHOWN
  }
}
