import { explore, type Explored } from './explore.ts'
import type { Mounted } from '../support/mounted-secrets.ts'
import type { World } from './worlds.ts'

/*
 * What secrets say must not matter: a world is explored a second time with mounted secrets that are taken from the texts of its replies,
 * and everything that happens has to be the same.
 */

/** The first step that secrets change, and how many situations or steps were compared until then. */
interface Compared {
  readonly compared: number
  readonly difference: string | undefined
  /** How the world was explored without them. */
  readonly plain: Explored
}

class Different extends Error {}

function withSecrets(world: World, mounted: Mounted): World {
  return { ...world, mounted, begin: () => ({ ...world.begin(), password: mounted.old }) }
}

/** Explores a world without and with such secrets, and compares all that happens. */
export async function compareWith(world: World, mounted: Mounted, depth: number): Promise<Compared> {
  const plain: string[] = []
  const expected = await explore(world, { depth, until: Infinity, onPlayed: (lines) => plain.push(lines) })
  let plays = 0
  function compare(told: string): void {
    const lines = told
      .replaceAll(`"password":"${mounted.old}"`, '"password":"old"')
      .replaceAll(`"password":"${mounted.new}"`, '"password":"new"')
    const before = plain[plays]
    plays += 1
    if (lines !== before) throw new Different(`without: ${before}\nwith:    ${lines}`)
  }
  let explored: Explored
  try {
    explored = await explore(withSecrets(world, mounted), { depth, until: Infinity, onPlayed: compare })
  } catch (error) {
    if (!(error instanceof Different)) throw error
    return { compared: plays, difference: error.message, plain: expected }
  }
  const isSame = plays === plain.length && explored.situations === expected.situations
  return {
    compared: explored.situations,
    difference: isSame ? undefined : 'a story is missing',
    plain: expected,
  }
}
