/** Leaves room for a number in a label. */
const LONGEST = 56

/** Digits of the id, for a pipe without a usable name. */
const DIGITS = 8

interface Named {
  readonly id: string
  readonly name: string
}

/** A `metadata.name` per pipe, from its own name. Duplicates get a number. @param taken names in use */
export function manifestNames(pipes: readonly Named[], taken: ReadonlySet<string>): readonly string[] {
  const wanted = pipes.map(wantedName)
  const given = new Set(taken)
  const numbers = new Map<string, number>()
  const isWanted = new Set(wanted)
  return wanted.map((name) => {
    let free = name
    let number = numbers.get(name) ?? 1
    while (given.has(free) || (free !== name && isWanted.has(free))) {
      number += 1
      free = `${name}-${number}`
    }
    numbers.set(name, number)
    given.add(free)
    return free
  })
}

function wantedName({ id, name }: Named): string {
  const plain = trimmed(
    name
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .toLowerCase()
      .replaceAll(/[^a-z0-9.]+/g, '-'),
  )
  return plain === '' ? `pipe-${id.slice(0, DIGITS).toLowerCase()}` : trimmed(plain.slice(0, LONGEST))
}

function trimmed(text: string): string {
  return text.replace(/^[-.]+/, '').replace(/[-.]+$/, '')
}
