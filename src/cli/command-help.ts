import type { Settings } from '../config/settings.ts'
import type { CommandHelp } from './help.ts'

/** The commands as the help of the program shows them. */
export const COMMAND_GROUPS: readonly (readonly [string, readonly string[]])[] = [
  ['Reconcile', ['run', 'plan', 'apply', 'reconcile']],
  ['Look', ['validate', 'status', 'history']],
  ['Decide', ['allow', 'adopt', 'resolve', 'forget', 'lock', 'ledger']],
  ['Write manifests', ['import', 'explain', 'schema']],
  ['Try and set up', ['sandbox', 'completion', 'version', 'help']],
]

const FINE = 'done'

/** Of every command that has settings: where else they stand, and what the defaults follow from. */
const EVERY = ['config', 'profile', 'sandbox'] as const

/** To read manifests; and what lies where, since none of Pipewright's own may lie where a manifest could name it. */
const DIRECTORY = [
  'manifests',
  'credentialsDir',
  'secretsDir',
  'alertsTokenFile',
  'adminTokenFile',
  'clientKeyFile',
  'webhookUrl',
  'webhookSecretFile',
] as const

/** To ask the platform. How long a request may take depends on how long a stop may take. */
const PLATFORM = [
  'baseUrl',
  'alertsBaseUrl',
  'alertsTokenFile',
  'credentialsDir',
  'secretsDir',
  'caFile',
  'clientCertFile',
  'clientKeyFile',
  'apiBudget',
  'requestTimeoutMs',
  'shutdownGraceMs',
  'allowInsecureHttp',
  'allowInsecureTls',
] as const

/** A ledger that may have to be made. */
const LEDGER = ['ledger', 'ledgerInit'] as const

/** A ledger that is there, and is tied to a platform. */
const BOUND_LEDGER = ['ledger', 'baseUrl', 'allowInsecureHttp'] as const

/** To reconcile. */
const PASS = ['healthyStates', 'concurrency', 'maxCreates'] as const

/** To ask a daemon what everybody may see, and the rest. */
const SERVER_TO_READ = ['server', 'caFile', 'allowInsecureHttp', 'allowInsecureTls'] as const
const SERVER = [...SERVER_TO_READ, 'adminTokenFile'] as const

/** What a daemon serves and sends. */
const PAGE = [
  'listen',
  'metricsListen',
  'allowedHosts',
  'publicUrl',
  'repositoryUrl',
  'namedResources',
] as const

const LOGS = ['logLevel', 'logFormat'] as const

/** What the help of each command shows beside its options. */
const HELP = {
  run: {
    settings: [
      ...EVERY,
      ...DIRECTORY,
      ...PLATFORM,
      ...LEDGER,
      'leaseMs',
      ...PASS,
      'intervalMs',
      ...PAGE,
      ...LOGS,
    ],
    examples: ['run --base-url https://api.example.com', 'run --sandbox --log-format pretty'],
    exits: { 0: 'it was stopped', 1: 'it cannot start, or the stop cut something short' },
  },
  validate: {
    settings: [...EVERY, ...DIRECTORY],
    examples: ['validate', 'validate manifests/orders.yaml -o compact'],
    exits: { 0: 'no errors', 1: 'errors were found' },
  },
  plan: {
    settings: [...EVERY, ...DIRECTORY, ...PLATFORM, ...LEDGER, ...PASS, ...SERVER],
    examples: ['plan -o markdown', 'plan --server http://127.0.0.1:8080 --admin-token-file token'],
    exits: { 0: 'nothing to do', 1: 'something fails or is refused', 2: 'changes are pending' },
  },
  apply: {
    settings: [...EVERY, ...DIRECTORY, ...PLATFORM, ...LEDGER, 'leaseMs', ...PASS, ...LOGS],
    examples: ['apply --wait --timeout 5m', 'apply --yes --max-creates 100'],
    exits: { 0: 'nothing needs attention', 1: 'something needs attention; with --wait: or is not ready yet' },
  },
  reconcile: {
    settings: [...EVERY, 'ledger', ...SERVER],
    examples: ['reconcile Pipe/orders --wait --timeout 2m', 'reconcile --accept --wait'],
    exits: {
      0: 'accepted; with --wait: done, and nothing needs attention',
      1: 'refused, or something needs attention',
    },
  },
  status: {
    settings: [...EVERY, 'manifests', 'ledger', ...SERVER_TO_READ],
    examples: ['status --status Drifted,Failed', 'status Pipe/orders --server http://127.0.0.1:8080'],
    exits: { 0: 'nothing needs attention', 1: 'something does, or the daemon died' },
  },
  history: {
    settings: [...EVERY, 'ledger', ...SERVER_TO_READ],
    examples: ['history --since 2h', 'history Pipe/orders -o wide'],
    exits: { 0: FINE, 1: 'the ledger, or the server, cannot be read' },
  },
  allow: {
    settings: [...EVERY, ...DIRECTORY, ...BOUND_LEDGER, ...SERVER],
    examples: ['allow --dry-run', 'allow --service analytics'],
    exits: { 0: FINE, 1: 'the ledger or the daemon cannot be reached' },
  },
  adopt: {
    settings: [...EVERY, ...DIRECTORY, ...PLATFORM, ...LEDGER],
    examples: ['adopt Pipe/orders 9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d', 'adopt Pipe/orders ID -o json'],
    exits: { 0: FINE, 1: 'refused' },
  },
  resolve: {
    settings: [...EVERY, ...DIRECTORY, ...PLATFORM, 'ledger'],
    examples: [
      'resolve Pipe/orders --adopt 9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d',
      'resolve Pipe/orders --retry',
    ],
    exits: { 0: FINE, 1: 'refused' },
  },
  forget: {
    settings: [...EVERY, ...DIRECTORY, ...BOUND_LEDGER],
    examples: ['forget Pipe/orders', 'forget --platform'],
    exits: { 0: FINE, 1: 'refused' },
  },
  lock: {
    settings: [...EVERY, 'ledger'],
    examples: ['lock > manifests/pipes.lock.yaml', 'lock -o json'],
    exits: { 0: FINE, 1: 'a key is left out' },
  },
  ledger: {
    settings: [...EVERY, 'ledger'],
    examples: [
      'ledger export ledger.ndjson',
      'ledger export ledger.ndjson --move',
      'ledger import ledger.ndjson --ledger kubernetes:pipewright',
      'ledger accept --ledger kubernetes:pipewright',
    ],
    exits: {
      0: FINE,
      1: 'no such ledger, or one where to import; to accept: pipes are missing',
    },
  },
  import: {
    settings: [...EVERY, ...DIRECTORY, ...PLATFORM, ...LEDGER],
    examples: [
      'import Pipe/orders ID --service analytics --file orders.yaml',
      'import --all analytics --output-dir manifests',
    ],
    exits: { 0: FINE, 1: 'there is no such pipe, or it belongs to a manifest already' },
  },
  explain: {
    settings: ['config', 'profile'],
    examples: ['explain pipe.spec.source.kafka', 'explain pipe.policy.onMissing -o json'],
    exits: { 0: FINE },
  },
  schema: {
    settings: ['config', 'profile'],
    examples: ['schema > manifest.schema.json', 'schema Pipe'],
    exits: { 0: FINE },
  },
  sandbox: {
    settings: [],
    examples: ['sandbox', 'sandbox --data sandbox.db --faults faults.yaml'],
    exits: { 0: 'it was stopped' },
  },
  completion: {
    settings: [],
    examples: ['completion bash > /etc/bash_completion.d/pipewright', 'completion fish | source'],
    exits: { 0: FINE },
  },
  version: { settings: [], examples: ['version', '--version'], exits: { 0: FINE } },
} as const satisfies Readonly<Record<string, CommandHelp>>

export const COMMAND_HELP: Readonly<Record<string, CommandHelp>> = HELP

/** What a command may read of the settings: those that its help shows; and which proxies there are, where it asks a server. */
export type SettingsOf<C extends keyof typeof HELP> = Pick<
  Settings,
  | Exclude<(typeof HELP)[C]['settings'][number], 'config'>
  | ('server' extends (typeof HELP)[C]['settings'][number] ? 'proxies' : never)
>
