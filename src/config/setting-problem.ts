import type { SettingDefinition } from './setting-definition.ts'
import { SETTING_NAMES, definitionOf } from './settings-table.ts'

/** One thing that is wrong with the settings. */
export interface SettingProblem {
  /** Name of the flag, without dashes; `undefined` when no setting is meant, such as for a file that cannot be read. */
  readonly setting: string | undefined
  /** Where it was said: `--interval`, `PIPEWRIGHT_INTERVAL`, `pipewright.yaml:3`; or `nowhere`. */
  readonly from: string
  /** What was given; `undefined` when nothing was, or when it may hold a secret. */
  readonly given: string | undefined
  readonly why: string
  /** What would be right. */
  readonly right: string
}

/** Text for people: a line that says how many, and one for each. */
export function formatProblems(problems: readonly SettingProblem[]): string {
  const title = problems.length === 1 ? '1 problem:' : `${problems.length} problems:`
  return [title, ...problems.map(formatProblem)].join('\n')
}

function formatProblem({ from, given, why, right }: SettingProblem): string {
  const shown = given === undefined ? '' : ` ${JSON.stringify(given)}`
  return `  ${from}${shown}: ${why}; ${right}`
}

/** Every setting as a Markdown table, for the docs. */
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

/** A bar would end the cell, also within code. */
function escape(cell: string): string {
  return cell.replaceAll('|', '\\|')
}
