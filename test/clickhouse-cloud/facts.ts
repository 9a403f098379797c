import { readFileSync } from 'node:fs'

/*
 * The fields of a pipe as the facts of the service have them: the rows of their tables, as a tree. It is read from the tables alone, not
 * from anything that the client knows, so that both can be wrong only in different ways.
 */

export type Type = 'string' | 'int' | 'number' | 'bool' | 'string[]'

export interface Fact {
  /** Dotted, with `[]` after the name of a list of objects. */
  readonly field: string
  readonly type: Type
  readonly isNullable: boolean
  /** The words that it takes, or `undefined` when it takes any. */
  readonly words: readonly string[] | undefined
  /** Bounds of a number, or of the length of a text. */
  readonly low: number | undefined
  readonly high: number | undefined
  /** A format in the words of the facts. */
  readonly values: string
  readonly needed: string
  readonly returned: 'yes' | 'no' | 'may' | 'not DB'
  readonly form: string
  /** By which operation it changes. */
  readonly change: 'patch' | 'scaling' | 'settings' | 'mappings' | 'immutable'
  readonly isSecret: boolean
  /** What no output shows: a secret, or what may hold one. */
  readonly isKeptBack: boolean
}

/** A place of the tree: a field, an object, or a list of objects. */
export interface Place {
  readonly name: string
  readonly path: string
  readonly fact: Fact | undefined
  readonly isList: boolean
  readonly members: ReadonlyMap<string, Place>
  /** Whether what holds it must hold it. */
  readonly isNeeded: boolean
}

/** What nothing makes needed: the body itself, and what a body chooses. */
const SOURCE_KIND = /^source\.[^.]+$|^source$|^$/

const FILE = new URL('../kinds/clickhouse-cloud/fields.txt', import.meta.url)

export const FACTS: readonly Fact[] = readFileSync(FILE, 'utf8').trim().split('\n').map(factOf)

export const SOURCE_NAMES: readonly string[] = [
  ...new Set(FACTS.flatMap(({ field }) => /^source\.(\w+)\./.exec(field)?.[1] ?? [])),
]

/** They make their tables themselves, and have no destination but a database. */
export const DATABASE_KINDS: readonly string[] = ['postgres', 'mysql', 'mongodb', 'bigquery']

export const PIPE: Place = treeOf(FACTS)

function factOf(line: string): Fact {
  const [
    ,
    field = '',
    type = '',
    values = '',
    needed = '',
    returned = '',
    form = '',
    change = '',
    kept = '',
  ] = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
  return {
    field: field.replaceAll('`', ''),
    type: type.replace('?', '') as Type,
    isNullable: type.endsWith('?'),
    words: wordsOf(values),
    ...boundsOf(values),
    values,
    needed,
    returned: returned as Fact['returned'],
    form,
    change: change as Fact['change'],
    isSecret: kept === 'secret',
    isKeptBack: kept !== '',
  }
}

/** Words stand before anything else that is said; what has a colon in it is a format. */
function wordsOf(values: string): readonly string[] | undefined {
  const listed = /^`[^`:]+`(?: `[^`]+`)*(?=;|$)/.exec(values)?.[0]
  return listed === undefined ? undefined : [...listed.matchAll(/`([^`]+)`/g)].map(([, word]) => word ?? '')
}

function boundsOf(values: string): Pick<Fact, 'low' | 'high'> {
  const range = /^([\d.]+?)\.\.([\d.]+)/.exec(values)
  if (range !== null) return { low: Number(range[1]), high: Number(range[2]) }
  const least = /^≥ (\d+)/.exec(values)
  const most = /≤ (\d+) characters/.exec(values)
  return {
    low: least === null ? undefined : Number(least[1]),
    high: most === null ? undefined : Number(most[1]),
  }
}

export function treeOf(facts: readonly Fact[]): Place {
  return placeOf('', '', facts)
}

function placeOf(name: string, path: string, facts: readonly Fact[]): Place {
  const depth = path === '' ? 0 : path.split('.').length
  const own = facts.find(({ field }) => field === path)
  const below = own === undefined ? facts : []
  const steps = Map.groupBy(below, ({ field }) => field.split('.')[depth] ?? '')
  return {
    name: name.replace('[]', ''),
    path,
    fact: own,
    isList: name.endsWith('[]'),
    isNeeded: isNeeded(path, facts),
    members: new Map(
      [...steps].map(([step, rows]) => [
        step.replace('[]', ''),
        placeOf(step, path === '' ? step : `${path}.${step}`, rows),
      ]),
    ),
  }
}

/**
 * What is needed makes everything around it needed, up to the kind of source, which is chosen, or the list, which rules speak of. What is
 * needed `in object` needs nothing around it.
 */
function isNeeded(path: string, facts: readonly Fact[]): boolean {
  if (SOURCE_KIND.test(path) || path.endsWith('[]')) return false
  return facts.some(({ field, needed }) => {
    if (field === path) return needed === 'yes' || needed === 'in object'
    return needed === 'yes' && !field.slice(path.length).includes('[]')
  })
}
