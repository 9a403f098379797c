import { type Command, InvalidArgumentError, Option } from 'commander'
import { readFile } from 'node:fs/promises'
import type { Parser } from '../config/parsers.ts'
import { formatProblems } from '../config/setting-problem.ts'
import { readSettings, SETTINGS, type Settings } from '../config/settings.ts'
import { sentence } from '../plan/reasons/row.ts'
import { COMMAND_HELP } from './command-help.ts'
import { failpointProblems } from './failpoints.ts'
import { CommandError, EXIT, type Io, print } from './io.ts'

/** A command of the program, without settings. */
export function addPlain(program: Command, name: string, description: string): Command {
  const { examples = [], exits = {} } = COMMAND_HELP[name] ?? {}
  const codes = Object.entries({ ...exits, 64: 'usage error', 70: 'internal error' })
  return program
    .command(name)
    .description(description)
    .addHelpText(
      'after',
      [
        '\nExamples:',
        ...examples.map((example) => `  pipewright ${example}`),
        '\nExit codes:',
        ...codes.map(([code, text]) => `  ${code.padEnd(3)} ${text}`),
      ].join('\n'),
    )
}

/**
 * A command that reads settings: it takes each as a flag. A flag without its value is `true`: the next flag is never taken for
 * the value, and `settingsFor` reports it.
 */
export function addCommand(program: Command, name: string, description: string): Command {
  const command = addPlain(program, name, description)
  const options = SETTINGS.map(
    ({ flag, placeholder }) =>
      new Option(placeholder === undefined ? `--${flag}` : `--${flag} [${placeholder}]`),
  )
  for (const option of options) command.addOption(option)
  // Not before: the suggestion for a wrong flag is one of the options that are not hidden.
  command.on('beforeHelp', () => options.forEach((option) => option.hideHelp()))
  const flags = SETTINGS.map(({ flag }) => `--${flag}`)
  return command.addHelpText(
    'after',
    `\nSettings, explained by "pipewright help settings":\n${wrapped(flags).join('\n')}`,
  )
}

const MAX_LINE_LENGTH = 80

function wrapped(words: readonly string[]): readonly string[] {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < MAX_LINE_LENGTH)
      lines.push(`${lines.pop()} ${word}`)
    else lines.push(`  ${word}`)
  }
  return lines
}

/** A command of which only the help is of use: it lists the settings. */
export function addSettingsHelp(program: Command): void {
  const command = program
    .command('settings', { hidden: true })
    .description(
      'Each setting is a flag, a variable, or a line of the file that --config names. A flag wins over a variable, a variable over the file.',
    )
    .helpOption(false)
  for (const { group, flag, placeholder, describe, env, defaultText = 'none' } of SETTINGS) {
    // A link of the docs is its text here.
    const text = describe.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    const flags = placeholder === undefined ? `--${flag}` : `--${flag} <${placeholder}>`
    command.addOption(new Option(flags, `${text}. ${env}. Default: ${defaultText}.`).helpGroup(`${group}:`))
  }
  command.action(() => command.help())
}

export function output(choices: readonly string[]): Option {
  return new Option('-o, --output <FORMAT>', 'how to print').choices(choices).default(choices[0])
}

/** For the value of an option. */
export function parsedBy<T>(parser: Parser<T>): (text: string) => T {
  return (text) => {
    const parsed = parser(text)
    if (parsed.ok) return parsed.value
    throw new InvalidArgumentError(sentence(`${parsed.why}; ${parsed.right}`))
  }
}

/** @throws {CommandError} with all problems of flags, variables and the file */
export async function settingsFor(
  io: Io,
  command: Command,
  needs: 'platform' | 'platform or server' | 'local',
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

function isGiven(value: unknown): value is string | true {
  return typeof value === 'string' || value === true
}
