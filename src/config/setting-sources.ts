import { nearest } from '../lib/nearest.ts'
import { SETTING_NAMES, DEFINITIONS, type SettingName, type Read } from './settings-table.ts'
import { LineCounter, isMap, isScalar, parseDocument, type Node, type Pair, type Scalar } from 'yaml'

export interface SettingProblem {
  /** Such as `--interval`, `PIPEWRIGHT_INTERVAL` or `pipewright.yaml:3`. */
  readonly from: string
  /** Undefined if no value was given, or if it might hold a secret. */
  readonly given?: string | undefined
  readonly why: string
  readonly right: string
}

/** Shows a value only if it is a string, because a value parsed into an object can hold a secret. */
export function problemOf(
  name: SettingName,
  read: Read<unknown>,
  why: string,
  right: string,
): SettingProblem {
  const given = typeof read.value === 'string' ? read.value : undefined
  return { from: read.from ?? `--${DEFINITIONS[name].flag}`, given, why, right }
}

export function formatProblems(problems: readonly SettingProblem[]): string {
  const title = problems.length === 1 ? '1 problem:' : `${problems.length} problems:`
  const lines = problems.map(({ from, given, why, right }) => {
    const shown = given === undefined ? '' : ` ${JSON.stringify(given)}`
    return `  ${from}${shown}: ${why}; ${right}`
  })
  return [title, ...lines].join('\n')
}

export interface Given {
  readonly name: SettingName
  readonly text: string
  readonly from: string
}

/** Keys are flags (`base-url`) or commander's names (`baseUrl`). A switch is `true`. Unknown keys are ignored. */
export type Flags = Readonly<Record<string, string | true | undefined>>

export type Environment = Readonly<Record<string, string | undefined>>

export function readFlags(flags: Flags): readonly (Given | SettingProblem)[] {
  return SETTING_NAMES.flatMap((name): readonly (Given | SettingProblem)[] => {
    const { flag, placeholder } = DEFINITIONS[name]
    const value = flags[flag] ?? flags[camelCase(flag)]
    const from = `--${flag}`
    if (value === true && placeholder !== undefined)
      return [{ from, why: 'it has no value', right: `give ${placeholder}` }]
    return value === undefined ? [] : [{ name, text: String(value), from }]
  })
}

const PREFIX = 'PIPEWRIGHT_'

/** Kubernetes sets these variables in each pod for each Service whose name begins with "pipewright". */
const SERVICE_LINK =
  /^PIPEWRIGHT(_[A-Z0-9_]+)?_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/

/** An empty variable counts as unset: charts and compose files often set empty variables. */
export function readEnvironment(env: Environment): readonly (Given | SettingProblem)[] {
  const given = SETTING_NAMES.flatMap((name): Given[] => {
    const from = DEFINITIONS[name].env
    const text = env[from]?.trim() ?? ''
    return text === '' ? [] : [{ name, text, from }]
  })
  const known = new Set(SETTING_NAMES.map((name) => DEFINITIONS[name].env))
  const isKnown = (variable: string) => known.has(variable) || SERVICE_LINK.test(variable)
  const problems = Object.keys(env)
    .filter((variable) => variable.startsWith(PREFIX) && !isKnown(variable))
    .toSorted()
    .map((from) => ({ from, why: 'there is no such variable', right: nearestOf(from, known) }))
  return [...given, ...problems]
}

const FILE_KEYS: ReadonlyMap<string, SettingName> = new Map(
  SETTING_NAMES.filter((name) => name !== 'config').map((name) => [DEFINITIONS[name].flag, name]),
)

function nearestOf(word: string, known: Iterable<string>): string {
  const meant = nearest(word, known)
  return meant === undefined ? 'remove it' : `did you mean ${meant}?`
}

function camelCase(flag: string): string {
  return flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}

export function parseSettingsFile(file: string, content: string): readonly (Given | SettingProblem)[] {
  const lines = new LineCounter()
  const doc = parseDocument(content, { lineCounter: lines, prettyErrors: false, stringKeys: true })
  const at = (offset: number) => `${file}:${lines.linePos(offset).line}`
  const yamlErrors = [...doc.errors, ...doc.warnings]
  if (yamlErrors.length > 0) {
    // The parser's message can quote the webhook's URL.
    return yamlErrors.map(({ pos, code }) => {
      const why = code === 'MULTIPLE_DOCS' ? 'it has a second document' : `it is not valid YAML (${code})`
      return { from: at(pos[0]), why, right: 'correct the YAML' }
    })
  }
  const root = doc.contents
  if (root === null) return []
  if (!isMap(root)) {
    const right = 'write one setting a line, such as "interval: 5m"'
    return [{ from: at(startOf(root)), why: 'it is not a mapping', right }]
  }
  return root.items.map((pair) => readPair(pair, at))
}

function readPair(pair: Pair, at: (offset: number) => string): Given | SettingProblem {
  const key = pair.key as Scalar // stringKeys makes every key a scalar
  const from = at(startOf(key))
  const flag = String(key.value)
  const name = FILE_KEYS.get(flag)
  if (flag === 'config')
    return { from, why: 'a settings file cannot name another settings file', right: 'remove it' }
  if (name === undefined) {
    const shown = /^[\w-]{1,64}$/.test(flag) ? `"${flag}"` : 'of this name'
    return { from, why: `there is no setting ${shown}`, right: nearestOf(flag, FILE_KEYS.keys()) }
  }
  const value = pair.value
  if (!isScalar(value)) {
    const right = 'give one plain value, in quotes if it has brackets, such as "[::1]:8080"'
    return { from, why: `${flag} is not one value`, right }
  }
  if (value.value === null)
    return { from, why: `${flag} has no value`, right: 'write a value, or remove the line' }
  // 08 stays 08, and 1e3 does not become 1000.
  const text = typeof value.value === 'string' ? value.value : (value.source ?? '')
  return { name, text, from: `${from} ${flag}` }
}

function startOf(node: unknown): number {
  return (node as Node).range?.[0] ?? 0 // only nodes of a parsed document come here
}
