import { expect, test } from 'vitest'
import { COMMAND_GROUPS, COMMAND_HELP } from '../../src/cli/command-help.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { runHere } from '../support/command.ts'

const COMMANDS = COMMAND_GROUPS.flatMap(([, names]) => names)

test('the help of the program names every command, each in a sentence', async () => {
  const { code, stdout } = await runHere([])
  expect(code).toBe(0)
  for (const name of COMMANDS)
    expect(stdout).toMatch(new RegExp(`^ {2}${name} +[A-Z].*[^.]$|^ {2}${name} +[A-Z].*\\.$`, 'm'))
  expect((await runHere(['help'])).stdout).toBe(stdout)
  expect((await runHere(['--help'])).stdout).toBe(stdout)
})

test('no command is left out, and none is made up', async () => {
  const { stdout } = await runHere(['__complete', ''])
  expect(stdout.trim().split('\n').toSorted()).toEqual([...COMMANDS].toSorted())
})

test.each(COMMANDS.filter((name) => name !== 'help'))(
  '%s: own options and two examples come first, then the settings; it fits 80 columns',
  async (name) => {
    const { code, stdout } = await runHere(['help', name])
    expect(code).toBe(0)
    expect((await runHere([name, '--help'])).stdout).toBe(stdout)
    const help = COMMAND_HELP[name]
    expect(help?.examples.length).toBeGreaterThanOrEqual(2)
    for (const example of help?.examples ?? []) {
      expect(stdout).toContain(`  pipewright ${example}\n`)
      for (const [flag] of example.matchAll(/--[a-z-]+/g))
        expect(stdout).toMatch(new RegExp(`^ +.*${flag}\\b`, 'm'))
    }
    const order = ['Usage:', 'Examples:', 'Options:', 'Settings.', 'Exit codes:']
    const places = order.map((title) => stdout.indexOf(`\n${title}`)).filter((place) => place >= 0)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(/Exit codes: 0 .*; 64 usage error; 70 internal error\./)
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  },
)

test('version', async () => {
  const { stdout } = await runHere(['version'])
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  expect((await runHere(['--version'])).stdout).toBe(stdout)
})

test('help of a command that is not there says which is meant', async () => {
  const { code, stderr } = await runHere(['statsu'])
  expect(code).toBe(64)
  expect(stderr).toContain('status')
})

/** Of the reading of manifests: where they are, and which mounted secrets are not for them. */
const DIRECTORY = [
  'manifests',
  'credentials-dir',
  'secrets-dir',
  'alerts-token-file',
  'admin-token-file',
  'client-key-file',
  'webhook-url',
  'webhook-secret-file',
]

const PLATFORM = [
  'base-url',
  'alerts-base-url',
  'alerts-token-file',
  'credentials-dir',
  'secrets-dir',
  'ca-file',
  'client-cert-file',
  'client-key-file',
  'api-budget',
  'request-timeout',
  'shutdown-grace',
  'allow-insecure-http',
  'allow-insecure-tls',
]

const LEDGER = ['ledger', 'ledger-init']
const PASS = ['healthy-states', 'concurrency', 'max-creates']
const SERVER = ['server', 'ca-file', 'allow-insecure-http', 'allow-insecure-tls']

/** Beside --config and --sandbox, from which the defaults follow. */
const SETTINGS_OF: readonly (readonly [command: string, why: string, flags: readonly string[]])[] = [
  [
    'run',
    'reads all but the address of another daemon',
    SETTINGS.map(({ flag }) => flag).filter((flag) => flag !== 'server'),
  ],
  ['validate', 'only reads the directory', DIRECTORY],
  [
    'plan',
    'does what apply does, and writes and logs nothing; or asks a daemon',
    [...DIRECTORY, ...PLATFORM, ...LEDGER, ...PASS, ...SERVER],
  ],
  [
    'apply',
    'makes one pass and logs; nothing is served or sent, and nothing comes again',
    [...DIRECTORY, ...PLATFORM, ...LEDGER, 'lease-duration', ...PASS, 'log-level', 'log-format'],
  ],
  [
    'reconcile',
    'asks the daemon that the ledger or --server names, with the token',
    ['ledger', 'admin-token-file', ...SERVER],
  ],
  [
    'status',
    'reads a ledger, or asks a daemon; hints show lines of manifests',
    ['manifests', 'ledger', ...SERVER],
  ],
  ['history', 'reads a ledger, or asks a daemon', ['ledger', ...SERVER]],
  [
    'allow',
    'writes to a ledger of the platform that it is tied to, or asks a daemon, with the token',
    [...DIRECTORY, 'ledger', 'base-url', ...SERVER],
  ],
  ['ledger', 'reads a ledger, or makes one', ['ledger']],
  [
    'adopt',
    'asks the platform, and writes to the ledger, which it may make',
    [...DIRECTORY, ...PLATFORM, ...LEDGER],
  ],
  [
    'resolve',
    'asks the platform, and writes to a ledger that is there',
    [...DIRECTORY, ...PLATFORM, 'ledger'],
  ],
  [
    'forget',
    'reads the directory and writes to the ledger of a platform that it does not ask',
    [...DIRECTORY, 'ledger', 'base-url', 'allow-insecure-http'],
  ],
  ['lock', 'only reads the ledger', ['ledger']],
  [
    'import',
    'reads the directory, the ledger if there is one, and the platform',
    [...DIRECTORY, ...PLATFORM, ...LEDGER],
  ],
  ['explain', 'says what a profile has', []],
  ['schema', 'says what a profile has', []],
]

const WITHOUT_SETTINGS = ['sandbox', 'completion', 'version']

/** They ask nobody. */
const NEED_NO_SANDBOX: ReadonlySet<string> = new Set(['explain', 'schema'])

test('each command is in one of the two tables', () => {
  const told = [...SETTINGS_OF.map(([name]) => name), ...WITHOUT_SETTINGS, 'help']
  expect(told.toSorted()).toEqual(COMMANDS.toSorted())
})

/** The flags of settings that a help shows, without those of its own. */
function settingsIn(help: string): readonly string[] {
  const [, settings = ''] = help.split('\nSettings. ')
  return [...settings.matchAll(/^ {4}--([a-z-]+)/gm)].map(([, flag = '']) => flag)
}

test.each(SETTINGS_OF)(
  '%s %s: its help and the shell show these settings, and it takes all',
  async (name, _, flags) => {
    const wanted = [
      ...new Set(['config', 'profile', ...(NEED_NO_SANDBOX.has(name) ? [] : ['sandbox']), ...flags]),
    ].toSorted()
    const { stdout } = await runHere([name, '--help'])
    expect(settingsIn(stdout).toSorted()).toEqual(wanted)
    const completed = (await runHere(['__complete', name, '--'])).stdout.trim().split('\n')
    const all = new Set(SETTINGS.map(({ flag }) => `--${flag}`))
    expect(completed.filter((flag) => all.has(flag)).toSorted()).toEqual(wanted.map((flag) => `--${flag}`))
  },
)

test.each(WITHOUT_SETTINGS)('%s has no settings', async (name) => {
  expect((await runHere([name, '--help'])).stdout).not.toMatch(/Settings\.|--config|PIPEWRIGHT_/)
})
