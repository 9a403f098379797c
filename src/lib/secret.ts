import { inspect } from 'node:util'

const SHOWN = '[secret]'

/** Every conversion to text gives `[secret]`. Only `reveal` gives the value. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** Call only to send the value or to hash it with a key. */
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
