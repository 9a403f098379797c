import type { SettingDefinition } from './setting-definition.ts'
import { SETTING_NAMES, definitionOf, type Read, type SettingName } from './settings-table.ts'

export interface SettingProblem {
  /** Without dashes. Undefined for a problem such as an unreadable file. */
  readonly setting: string | undefined
  /** `--interval`, `PIPEWRIGHT_INTERVAL`, `pipewright.yaml:3`, or `nowhere`. */
  readonly from: string
  /** Undefined if no value was given, or if it might hold a secret. */
  readonly given: string | undefined
  readonly why: string
  readonly right: string
}

/** Shows only texts: other values can hold a secret. */
export function problemOf(
  name: SettingName,
  read: Read<unknown>,
  why: string,
  right: string,
): SettingProblem {
  const { flag } = definitionOf(name)
  const given = typeof read.value === 'string' ? read.value : undefined
  return { setting: flag, from: read.from ?? `--${flag}`, given, why, right }
}

export function formatProblems(problems: readonly SettingProblem[]): string {
  const title = problems.length === 1 ? '1 problem:' : `${problems.length} problems:`
  return [title, ...problems.map(formatProblem)].join('\n')
}

function formatProblem({ from, given, why, right }: SettingProblem): string {
  const shown = given === undefined ? '' : ` ${JSON.stringify(given)}`
  return `  ${from}${shown}: ${why}; ${right}`
}

export function settingsTable(): string {
  const rows = SETTING_NAMES.map(definitionOf).map((definition) => [
    code(`--${definition.flag}${definition.placeholder === undefined ? '' : ` ${definition.placeholder}`}`),
    code(definition.env),
    defaultOf(definition),
    definition.describe,
  ])
  const table = [['flag', 'variable', 'default', 'what it is'], ['---', '---', '---', '---'], ...rows]
  return `${table.map((cells) => `| ${cells.map(escape).join(' | ')} |`).join('\n')}\n`
}

function defaultOf({ default: text, defaultNote, sandboxDefault }: SettingDefinition): string {
  const standard = defaultNote ?? (text === undefined ? 'none' : code(text))
  return sandboxDefault === undefined ? standard : `${standard}; in the sandbox ${code(sandboxDefault)}`
}

function code(text: string): string {
  return `\`${text}\``
}

/** A bar would end the cell, even inside code. */
function escape(cell: string): string {
  return cell.replaceAll('|', '\\|')
}
