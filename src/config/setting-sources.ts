import { nearest } from '../lib/nearest.ts'
import { FAILPOINT_VARIABLE } from '../contract/failpoint.ts'
import type { SettingProblem } from './setting-problem.ts'
import { SETTING_NAMES, TABLE, definitionOf, type SettingName } from './settings-table.ts'

/** A setting as somebody wrote it. */
export interface Given {
  readonly name: SettingName
  readonly text: string
  /** `--interval`, `PIPEWRIGHT_INTERVAL` or `pipewright.yaml:3`. */
  readonly from: string
}

/** What one source gives, and what is wrong with it. */
export interface Source {
  readonly given: readonly Given[]
  readonly faults: readonly SettingProblem[]
}

/** Values by the name of the flag, or as commander names it (`baseUrl`); `true` for a switch. Others are ignored. */
export type Flags = Readonly<Record<string, string | true | undefined>>

export type Environment = Readonly<Record<string, string | undefined>>

export function readFlags(flags: Flags): Source {
  const given: Given[] = []
  const faults: SettingProblem[] = []
  for (const name of SETTING_NAMES) {
    const { flag, placeholder } = definitionOf(name)
    const value = flags[flag] ?? flags[camelCase(flag)]
    const from = `--${flag}`
    if (value === true && placeholder !== undefined) {
      faults.push({
        setting: flag,
        from,
        given: undefined,
        why: 'it has no value',
        right: `give ${placeholder}`,
      })
    } else if (value !== undefined) given.push({ name, text: String(value), from })
  }
  return { given, faults }
}

const PREFIX = 'PIPEWRIGHT_'

/** What Kubernetes sets in every pod for each Service whose name begins with "pipewright". */
const SERVICE_LINK =
  /^PIPEWRIGHT(_[A-Z0-9_]+)?_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/

/** An empty variable counts as none: charts and compose files often set those. */
export function readEnvironment(env: Environment): Source {
  const given = SETTING_NAMES.flatMap((name): Given[] => {
    const from = definitionOf(name).env
    const text = env[from]?.trim() ?? ''
    return text === '' ? [] : [{ name, text, from }]
  })
  const known = new Set(SETTING_NAMES.map((name) => definitionOf(name).env))
  const isKnown = (variable: string) =>
    known.has(variable) || variable === FAILPOINT_VARIABLE || SERVICE_LINK.test(variable)
  const faults = Object.keys(env)
    .filter((variable) => variable.startsWith(PREFIX) && !isKnown(variable))
    .toSorted()
    .map((variable): SettingProblem => {
      const why = 'there is no such variable'
      return { setting: undefined, from: variable, given: undefined, why, right: nearestOf(variable, known) }
    })
  return { given, faults }
}

/** The keys that the file may have: every flag but the one that names the file. */
export const FILE_KEYS: ReadonlyMap<string, SettingName> = new Map(
  SETTING_NAMES.filter((name) => name !== 'config').map((name) => [TABLE[name].flag, name]),
)

/** What to do about a name that is not known. */
export function nearestOf(word: string, known: Iterable<string>): string {
  const meant = nearest(word, known)
  return meant === undefined ? 'remove it' : `did you mean ${meant}?`
}

function camelCase(flag: string): string {
  return flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}
