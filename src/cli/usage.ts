import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Parser, duration } from '../config/parsers.ts'
import { formatProblems } from '../config/setting-sources.ts'
import { readSettings, SETTINGS, type Settings, type SettingsInput } from '../config/settings.ts'
import { sentence } from '../plan/reasons/row.ts'
import { readTextFile } from '../platform/text-file.ts'
import { type ExitCode, type Io, misuse } from './io.ts'
import { warn, wrapped } from './render/terminal.ts'
import { formatDuration } from '../lib/duration.ts'

export interface Shell {
  readonly program: Command
  readonly io: Io
  settings?: Settings
  code: ExitCode
}

export function addPlain({ program }: Shell, name: string, description: string): Command {
  const { examples, exits } = COMMAND_HELP[name] ?? { examples: [], exits: [] }
  const codes = [...exits.entries(), [64, 'usage error'], [70, 'internal error']] as const
  return program
    .command(name)
    .description(description)
    .addHelpText(
      'after',
      [
        '\nExamples:',
        ...examples.map((example) => `  pipewright ${example}`),
        '\nExit codes:',
        ...codes.map(([code, text]) => `  ${String(code).padEnd(3)} ${text}`),
      ].join('\n'),
    )
}

/** A flag without its value is parsed as `true`. Then `readSettings` reports the missing value. */
export function addCommand(shell: Shell, name: string, description: string): Command {
  const command = addPlain(shell, name, description)
  const options = SETTINGS.map(
    ({ flag, placeholder }) =>
      new Option(placeholder === undefined ? `--${flag}` : `--${flag} [${placeholder}]`),
  )
  for (const option of options) command.addOption(option)
  // Settings are hidden only while help is printed, because commander suggests only visible options.
  command.on('beforeHelp', () => options.forEach((option) => option.hideHelp()))
  const flags = SETTINGS.map(({ flag }) => `--${flag}`).join(' ')
  return command.addHelpText(
    'after',
    `\nSettings, explained by "pipewright help settings":\n${wrapped(flags, '  ')}`,
  )
}

type Act<Flags, Words extends readonly unknown[]> = (
  io: Io,
  settings: Settings,
  flags: Flags,
  ...words: Words
) => ExitCode | Promise<ExitCode>

/** @param needs if it is a function, it throws for a wrong combination of flags */
export function acting<Flags, Words extends readonly unknown[]>(
  shell: Shell,
  needs: SettingsInput['needs'] | ((flags: Flags) => SettingsInput['needs']),
  act: Act<Flags, Words>,
): (...args: readonly unknown[]) => Promise<void> {
  return async (...args) => {
    const command = args.at(-1) as Command // as commander calls it
    const flags = command.opts() as Flags // typed by the command's options
    assertNothingEmpty(command, args.slice(0, -2).flat())
    shell.settings = await settingsFor(shell.io, command, typeof needs === 'function' ? needs(flags) : needs)
    shell.code = await act(shell.io, shell.settings, flags, ...(args.slice(0, -2) as unknown as Words))
  }
}

/** Refuses an empty value, such as from an unset shell variable. */
function assertNothingEmpty(command: Command, words: readonly unknown[]): void {
  const flag = command.options.find((each) => each.required && command.opts()[each.attributeName()] === '')
  if (flag === undefined && !words.includes('')) return
  const [name, what] = [command.name(), flag?.long ?? 'an argument']
  misuse(`${name}: ${what} is empty. Give it a value, or leave it out. See "pipewright help ${name}".`)
}

export function addSettingsHelp({ program }: Shell): void {
  const command = program
    .command('settings', { hidden: true })
    .description(
      'Each setting is a flag, a variable, or a line of the file that --config names. A flag wins over a variable, a variable over the file.',
    )
    .helpOption(false)
  for (const { group, flag, placeholder, describe, env, defaultText } of SETTINGS) {
    // Markdown links become their text.
    const text = describe.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    const flags = placeholder === undefined ? `--${flag}` : `--${flag} <${placeholder}>`
    command.addOption(new Option(flags, `${text}. ${env}. Default: ${defaultText}.`).helpGroup(`${group}:`))
  }
  command.action(() => command.help())
}

export function output(choices: readonly string[]): Option {
  return new Option('-o, --output <FORMAT>', 'how to print').choices(choices).default(choices[0])
}

export function parsedBy<T>(parser: Parser<T>): (text: string) => T {
  return (text) => {
    const parsed = parser(text)
    if (parsed.ok) return parsed.value
    throw new InvalidArgumentError(sentence(`${parsed.why}; ${parsed.right}`))
  }
}

/** @throws {CommandError} with all problems of flags, variables and file */
async function settingsFor(io: Io, command: Command, needs: SettingsInput['needs']): Promise<Settings> {
  const flags = Object.entries(command.opts()).filter(
    (entry): entry is [string, string | true] => typeof entry[1] === 'string' || entry[1] === true,
  )
  const reading = await readSettings({
    flags: Object.fromEntries(flags),
    env: io.env,
    needs,
    readFile: (path) => readTextFile(path, { signal: io.stop.stopping }),
  })
  if ('problems' in reading) {
    io.stop.stopping.throwIfAborted()
    misuse(formatProblems(reading.problems))
  }
  if (reading.isTlsUnchecked) warn(io, UNCHECKED_TLS)
  return reading.settings
}

const UNCHECKED_TLS =
  'warning: no certificate is checked (NODE_TLS_REJECT_UNAUTHORIZED=0 and --allow-insecure-tls): an attacker ' +
  'on the network can read the credentials and impersonate the platform. Use this for tests only.'

/** `exits`: meanings of the exit codes 0, 1, … All commands also have 64 (usage error) and 70 (internal error). */
export const COMMAND_HELP: Readonly<Record<string, Record<'examples' | 'exits', readonly string[]>>> = {
  run: {
    examples: ['run --base-url https://api.example.com', 'run --sandbox --log-format pretty'],
    exits: ['stopped', 'cannot start, or the stop interrupted a request'],
  },
  plan: {
    examples: ['plan -o markdown', 'plan --server http://127.0.0.1:8080 --admin-token-file token'],
    exits: ['no changes', 'an action fails or is refused', 'changes are pending'],
  },
  apply: {
    examples: ['apply --wait --timeout 5m', 'apply --yes --max-creates 100'],
    exits: ['no resource needs attention', 'a resource needs attention, or is not ready yet (with --wait)'],
  },
  reconcile: {
    examples: ['reconcile Pipe/orders --wait --timeout 2m', 'reconcile --accept --wait'],
    exits: [
      'accepted (with --wait: done, and no resource needs attention)',
      'refused, or something needs attention',
    ],
  },
  validate: {
    examples: ['validate', 'validate manifests/orders.yaml -o compact'],
    exits: ['no errors', 'errors were found'],
  },
  status: {
    examples: ['status --status Drifted,Failed', 'status Pipe/orders --server http://127.0.0.1:8080'],
    exits: ['no resource needs attention', 'a resource needs attention, or the daemon died'],
  },
  history: {
    examples: ['history --since 2h', 'history Pipe/orders -o wide'],
    exits: ['done', 'the ledger, or the server, cannot be read'],
  },
  allow: {
    examples: ['allow --dry-run', 'allow --service analytics'],
    exits: ['done', 'the ledger or the daemon cannot be reached'],
  },
  adopt: {
    examples: ['adopt Pipe/orders 9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d', 'adopt Pipe/orders ID -o json'],
    exits: ['done', 'refused'],
  },
  resolve: {
    examples: [
      'resolve Pipe/orders --adopt 9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d',
      'resolve Pipe/orders --retry',
    ],
    exits: ['done', 'refused'],
  },
  suspend: {
    examples: ['suspend Pipe/orders --reason "migration of the topic" --for 2d'],
    exits: ['done', 'refused'],
  },
  resume: { examples: ['resume Pipe/orders'], exits: ['done', 'refused'] },
  forget: { examples: ['forget Pipe/orders', 'forget --platform'], exits: ['done', 'refused'] },
  lock: {
    examples: ['lock > manifests/pipes.lock.yaml', 'lock -o json'],
    exits: ['done', 'a key is left out'],
  },
  ledger: {
    examples: [
      'ledger export ledger.ndjson',
      'ledger export ledger.ndjson --move',
      'ledger import ledger.ndjson --ledger kubernetes:pipewright',
      'ledger accept --ledger kubernetes:pipewright',
    ],
    exits: ['done', 'there is no such ledger, or the ledger to import into exists already'],
  },
  import: {
    examples: [
      'import Pipe/orders ID --service analytics --output-dir manifests',
      'import --all analytics --output-dir manifests',
    ],
    exits: ['done', 'a pipe or a service cannot be read, or a manifest cannot be written'],
  },
  explain: {
    examples: ['explain pipe.spec.source.kafka', 'explain pipe.policy.onMissing -o json'],
    exits: ['done'],
  },
  schema: { examples: ['schema > manifest.schema.json', 'schema Pipe'], exits: ['done'] },
  sandbox: { examples: ['sandbox', 'sandbox --data sandbox.db --faults faults.yaml'], exits: ['stopped'] },
  version: { examples: ['version'], exits: ['done'] },
}

const MIN_WAIT_MS = 1_000
const MAX_WAIT_MS = 24 * 3_600_000

export interface WaitFlags {
  readonly wait?: true
  /** ms. */
  readonly timeout?: number
}

export function withWait(command: Command, what: string, standardMs: number): Command {
  return command
    .option('--wait', what)
    .option(
      '--timeout <D>',
      `with --wait, wait at most this long. Default: ${formatDuration(standardMs)}`,
      parsedBy(duration(MIN_WAIT_MS, MAX_WAIT_MS)),
    )
}

/** ms. Undefined: no wait. */
export function readWait({ wait, timeout }: WaitFlags, standardMs: number): number | undefined {
  if (wait !== true && timeout !== undefined) misuse('--timeout works only with --wait.')
  return wait === true ? (timeout ?? standardMs) : undefined
}
