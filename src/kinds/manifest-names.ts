/** Of a name that is made up; room for a number behind it, and no longer than a label may be. */
const LONGEST = 56

/** Digits of an id that stand for a pipe whose name says nothing. */
const DIGITS = 8

interface Named {
  readonly id: string
  /** Its name there. */
  readonly name: string
}

/**
 * A `metadata.name` for each pipe, in their order: its own name as far as a manifest can have it. The first of several that come out
 * alike has it as it is; the others get a number that no other one has.
 * @param taken names that other manifests have
 */
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
