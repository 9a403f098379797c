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

/** Explores a world without and with each of such secrets, and compares all that happens. */
export async function compareWith(
  world: World,
  mounted: readonly Mounted[],
  depth: number,
): Promise<Compared> {
  const told: string[] = []
  const plain = await explore(world, { depth, until: Infinity, onPlayed: (lines) => told.push(lines) })
  let compared = 0
  for (const secrets of mounted) {
    const difference = await differenceWith(world, secrets, { depth, told, plain })
    if (difference !== undefined) return { compared, difference: `${secrets.name}: ${difference}`, plain }
    compared += plain.situations
  }
  return { compared, difference: undefined, plain }
}

async function differenceWith(
  world: World,
  mounted: Mounted,
  {
    depth,
    told,
    plain,
  }: { readonly depth: number; readonly told: readonly string[]; readonly plain: Explored },
): Promise<string | undefined> {
  let plays = 0
  function onPlayed(text: string): void {
    const lines = text
      .replaceAll(`"password":"${mounted.old}"`, '"password":"old"')
      .replaceAll(`"password":"${mounted.new}"`, '"password":"new"')
    const before = told[plays]
    plays += 1
    if (lines !== before) throw new Different(`without: ${before}\nwith:    ${lines}`)
  }
  try {
    const { situations } = await explore(withSecrets(world, mounted), { depth, until: Infinity, onPlayed })
    const isSame = plays === told.length && situations === plain.situations
    return isSame ? undefined : 'a story is missing'
  } catch (error) {
    if (!(error instanceof Different)) throw error
    return error.message
  }
}
