import { type Argument, type Command, Option } from 'commander'
import { readFile } from 'node:fs/promises'
import { formatProblems, type SettingProblem } from '../config/setting-problem.ts'
import { type Settings, readSettings, SETTINGS } from '../config/settings.ts'
import { CommandError, EXIT, type Io, print } from './io.ts'
import { failpointProblems } from './failpoints.ts'
import { nearestOf } from '../config/setting-sources.ts'

/**
 * Every setting as an option; the environment and the file are read beside them. commander is told to take any words, and
 * a flag without its value: `settingsFor` says what is wrong with them, all problems at once.
 */
export function withSettings(command: Command): Command {
  for (const { flag, placeholder, describe } of SETTINGS) {
    const value = placeholder === undefined ? '' : ` [${placeholder}]`
    command.option(`--${flag}${value}`, describe)
  }
  return lenient(command)
}

export function lenient(command: Command): Command {
  return command
    .allowUnknownOption()
    .allowExcessArguments()
    .configureOutput({ outputError: (text, write) => write(errorWords(text, command)) })
    .configureHelp({ optionTerm: ({ flags }) => flags.replace(/\[(.+)\]/, '<$1>') })
}

/** What commander itself ends with: an argument that is missing. */
function errorWords(text: string, command: Command): string {
  const [, name] = /^error: missing required argument '(.+)'/.exec(text) ?? []
  if (name === undefined) return text.replace(/^error:/, 'pipewright:')
  const call = ['pipewright', command.name(), ...command.registeredArguments.map(argumentTerm)].join(' ')
  const right = `give ${call}`
  return `pipewright: ${formatProblems([{ setting: undefined, from: name, given: undefined, why: 'it is missing', right }])}\n`
}

function argumentTerm(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`
}

/**
 * The settings of a command.
 * @param more what else is wrong with how it was called
 * @throws {CommandError} with all problems of flags, variables, the file and the call
 */
export async function settingsFor(
  io: Io,
  command: Command,
  needs: 'platform' | 'platform or server' | 'local',
  more: readonly SettingProblem[] = [],
): Promise<Settings> {
  const flags = Object.entries(command.opts()).filter((entry): entry is [string, string | true] =>
    isGiven(entry[1]),
  )
  const reading = await readSettings({
    flags: Object.fromEntries(flags),
    env: io.env,
    readFile: (path) => readFile(path, 'utf8'),
  })
  const reachesOthers = needs !== 'local' || reading.namesServer
  const needsPlatform = needs === 'platform' || (needs === 'platform or server' && !reading.namesServer)
  const problems = [
    ...usageProblems(command),
    ...more,
    ...('problems' in reading ? reading.problems : []),
    ...(needsPlatform && reading.noPlatform !== undefined ? [reading.noPlatform] : []),
    ...(reachesOthers ? reading.proxyProblems : []),
    ...(reachesOthers && reading.uncheckedTls !== undefined ? [reading.uncheckedTls] : []),
    ...failpointProblems(io.env),
  ]
  if ('problems' in reading || problems.length > 0)
    throw new CommandError(formatProblems(problems), EXIT.usage)
  if (reachesOthers && reading.isTlsUnchecked) print(io.stderr, UNCHECKED_TLS)
  return reading.settings
}

const UNCHECKED_TLS =
  'pipewright: warning: no certificate is checked (NODE_TLS_REJECT_UNAUTHORIZED=0 and --allow-insecure-tls): whoever is on ' +
  'the way can read the credentials and answer in place of the platform. This is for tests.'

/** @throws {CommandError} with all that is wrong with a call that has no settings */
export function assertUsage(command: Command): void {
  const problems = usageProblems(command)
  if (problems.length > 0) throw new CommandError(formatProblems(problems), EXIT.usage)
}

function isGiven(value: unknown): value is string | true {
  return typeof value === 'string' || value === true
}

/** The choices are checked with all else, not by commander. */
export function output(choices: readonly string[]): Option {
  const option = new Option('-o, --output [FORMAT]', 'how to print').default(choices[0])
  option.argChoices = [...choices]
  return option
}

/*
 * How a command was called. commander ends with the first problem that it sees; a person wants all of them at once,
 * those of the settings too. So commander only takes the words apart, and what is wrong with them is found here.
 */

/** Unknown flags, values that are missing or not among the choices, and more arguments than there are. */
export function usageProblems(command: Command): readonly SettingProblem[] {
  const unknown = command.args.filter(isFlag).map((word) => unknownFlag(command, word))
  const values = command.options.flatMap((option) => valueProblem(command, option) ?? [])
  // A word after an unknown flag may be its value, so that nothing can be said of arguments then.
  const surplus = unknown.length > 0 ? [] : surplusArguments(command)
  return [...unknown, ...values, ...surplus]
}

function isFlag(word: string): boolean {
  return word.startsWith('-') && word !== '-'
}

/** Only its name is shown: what follows it may be a secret. */
function unknownFlag(command: Command, word: string): SettingProblem {
  const flag = word.split('=')[0] ?? word
  const known = command.options.flatMap(({ long }) => long ?? [])
  const why = `"${command.name()}" has no such flag`
  return { setting: undefined, from: flag, given: undefined, why, right: nearestOf(flag, known) }
}

function valueProblem(command: Command, option: Option): SettingProblem | undefined {
  const value: unknown = command.getOptionValue(option.attributeName())
  const { argChoices: choices, long } = option
  const problem = { setting: undefined, from: long ?? option.flags }
  if (choices !== undefined && typeof value === 'string' && !choices.includes(value)) {
    return {
      ...problem,
      given: value,
      why: 'it is not one of the possible values',
      right: `give ${choices.join(', ')}`,
    }
  }
  const readElsewhere = SETTINGS.some(({ flag }) => long === `--${flag}`)
  if (value !== true || !option.optional || readElsewhere) return undefined
  return {
    ...problem,
    given: undefined,
    why: 'it has no value',
    right: `give ${choices?.join(', ') ?? 'one'}`,
  }
}

function surplusArguments({ args, registeredArguments: wanted }: Command): readonly SettingProblem[] {
  if (wanted.at(-1)?.variadic === true) return []
  return args.slice(wanted.length).map((word) => ({
    setting: undefined,
    from: 'argument',
    given: word,
    why:
      wanted.length === 0
        ? 'there are no arguments here'
        : `there is one too many (${wanted.length} at most)`,
    right: 'remove it',
  }))
}
