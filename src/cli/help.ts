import type { Command, Help, Option } from 'commander'
import { SETTINGS } from '../config/settings.ts'
import { SETTING_GROUPS } from '../config/setting-definition.ts'
import { definitionOf, type SettingName } from '../config/settings-table.ts'

/** What the help of a command has beside its options. */
export interface CommandHelp {
  /** Whole command lines, without the program's name. */
  readonly examples: readonly string[]
  /** Those that the command reads; the flags of the others are taken as well, since a script may give all commands the same. */
  readonly settings: readonly SettingName[]
  /** By exit code; wrong use and internal errors end every command alike. */
  readonly exits: Readonly<Record<number, string>>
}

/** How every command ends that is called wrongly, or that has a bug. */
const ALWAYS = { 64: 'usage error', 70: 'internal error' }

/** Most columns of the help, also on a wide terminal: longer lines are hard to read. */
const WIDEST = 100

/** Longer terms stand on a line of their own. */
const LONGEST_TERM = 28

const BY_FLAG = new Map(SETTINGS.map((setting) => [`--${setting.flag}`, setting]))

/** Wraps text, with each line so far from the left. */
type Wrap = (text: string, indent: number) => string

function wrapFor(helper: Help): Wrap {
  const width = Math.min(helper.helpWidth ?? 80, WIDEST)
  return (text, indent) =>
    helper
      .boxWrap(text, width - indent)
      .split('\n')
      .map((line) => `${' '.repeat(indent)}${line}`)
      .join('\n')
}

/** Terms with their texts beside them. */
function list(wrap: Wrap, indent: number, pairs: readonly (readonly [string, string])[]): readonly string[] {
  const short = pairs.map(([term]) => term.length).filter((length) => length <= LONGEST_TERM)
  const column = indent + Math.max(0, ...short) + 2
  return pairs.map(([term, text]) => {
    const head = `${' '.repeat(indent)}${term}`
    const body = wrap(text, column)
    return head.length + 2 > column ? `${head}\n${body}` : `${head.padEnd(column)}${body.trimStart()}`
  })
}

/** The command's own options and examples first, then the settings that it reads. */
export function withHelp(command: Command, { examples, settings, exits }: CommandHelp): Command {
  const hasSettings = settings.length > 0
  if (hasSettings) {
    const read = new Set(settings.map((name) => `--${definitionOf(name).flag}`))
    for (const option of command.options)
      if (BY_FLAG.has(option.long ?? '') && !read.has(option.long ?? '')) option.hideHelp()
  }
  return command.configureHelp({
    formatHelp: (_, helper) => {
      const wrap = wrapFor(helper)
      const options = helper.visibleOptions(command)
      const own = options.filter(({ long }) => !hasSettings || !BY_FLAG.has(long ?? ''))
      const words = helper.visibleArguments(command)
      const codes = Object.entries({ ...exits, ...ALWAYS }).map(([code, text]) => `${code} ${text}`)
      return sections([
        [`Usage: pipewright ${command.name()} ${command.usage()}`],
        [wrap(sentence(command.description()), 0)],
        ['Examples:', ...examples.map((example) => `  pipewright ${example}`)],
        [
          'Arguments:',
          ...list(
            wrap,
            2,
            words.map((word) => [word.name(), sentence(word.description)]),
          ),
        ],
        [
          'Options:',
          ...list(
            wrap,
            2,
            own.map((option) => [termOf(option), optionWords(option)]),
          ),
        ],
        ...(hasSettings ? settingSections(wrap, options) : []),
        [wrap(`Exit codes: ${codes.join('; ')}.`, 0)],
      ])
    },
  })
}

/** Those that have more than a title, with an empty line between them. */
function sections(all: readonly (readonly string[])[]): string {
  const shown = all.filter(([title = '', ...lines]) => lines.length > 0 || !title.endsWith(':'))
  return `${shown.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function settingSections(wrap: Wrap, options: readonly Option[]): readonly (readonly string[])[] {
  const groups = SETTING_GROUPS.flatMap((group) => {
    const shown = options.filter(({ long }) => BY_FLAG.get(long ?? '')?.group === group)
    const items = list(
      wrap,
      4,
      shown.map((option) => [termOf(option), settingWords(option)]),
    )
    return shown.length === 0 ? [] : [[`  ${group}`, ...items]]
  })
  return [['Settings. Each is a flag, a variable, or a line of the file that --config names.'], ...groups]
}

function termOf({ flags }: Option): string {
  return flags.replace(/\[(.+)\]/, '<$1>')
}

function optionWords({ description, argChoices, defaultValue, long }: Option): string {
  if (long === '--help') return 'Show this help.'
  const choices = argChoices === undefined ? '' : `: ${argChoices.join(', ')}`
  const standard = typeof defaultValue === 'string' ? ` Default: ${defaultValue}.` : ''
  return `${sentence(`${description}${choices}`)}${standard}`
}

function settingWords({ long }: Option): string {
  const setting = BY_FLAG.get(long ?? '')
  if (setting === undefined) return ''
  const standard = setting.defaultText === undefined ? 'none' : setting.defaultText
  // Where the docs have a link, a terminal has its text.
  const text = sentence(setting.describe).replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
  return `${text} Variable: ${setting.env}. Default: ${standard}.`
}

/** A description of the tables, which begins small and ends without a stop. */
function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`
}

/** The help of the program: its commands in groups. */
export function programHelp(groups: readonly (readonly [string, readonly string[]])[]) {
  return (program: Command, helper: Help): string => {
    const wrap = wrapFor(helper)
    const described = (name: string) =>
      name === 'help'
        ? 'Show the options, examples and exit codes of a command.'
        : sentence(program.commands.find((one) => one.name() === name)?.description() ?? '')
    return sections([
      ['Usage: pipewright COMMAND [options]'],
      [wrap(sentence(program.description()), 0)],
      ...groups.map(([title, names]) => [
        `${title}:`,
        ...list(
          wrap,
          2,
          names.map((name) => [name.padEnd(LONGEST_NAME), described(name)]),
        ),
      ]),
      ['"pipewright help COMMAND" shows what a command takes.'],
    ])
  }
}

const LONGEST_NAME = 'completion'.length
