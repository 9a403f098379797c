import { SETTING_NAMES, definitionOf, type SettingDefinition } from './table.ts'

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
