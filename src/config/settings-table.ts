import {
  type Parser,
  duration,
  named,
  oneOf,
  parseBaseUrl,
  parseBudget,
  parseLedger,
  parseList,
  parsePath,
  parseSwitch,
  parseWebhookUrl,
  wholeNumber,
  type SettingDefinition,
} from './parsers.ts'
import { PROFILES } from '../kinds/profiles/profiles.ts'
import { PAGE_SETTINGS } from './page-settings.ts'

export interface Read<T> {
  readonly value: T
  readonly from: string | undefined
}

export type ReadValues = { readonly [N in SettingName]?: Read<ValueOf<N>> }

const SECOND = 1_000
const HOUR = 3_600 * SECOND

/** Defines flags, variables, file keys, help and docs. Defaults go through the same parsers. */
export const TABLE = {
  config: {
    group: 'General',
    flag: 'config',
    placeholder: 'FILE',
    describe: 'YAML file of settings: names of flags without leading dashes, and their values',
    parse: parsePath,
  },
  manifests: {
    group: 'Manifests',
    flag: 'manifests',
    placeholder: 'DIR',
    default: 'manifests',
    describe: 'directory of the manifests',
    parse: parsePath,
  },
  profile: {
    group: 'Platform',
    flag: 'profile',
    placeholder: PROFILES.map(({ name }) => name).join('|'),
    default: 'default',
    describe: 'interface of the platform: its operations and the names of its fields',
    parse: named(PROFILES),
  },
  baseUrl: {
    group: 'Platform',
    flag: 'base-url',
    placeholder: 'URL',
    defaultNote: 'none; needed unless `--sandbox`',
    describe: 'base URL of the platform, such as https://api.clickhouse.cloud',
    parse: parseBaseUrl,
  },
  alertsBaseUrl: {
    group: 'Platform',
    flag: 'alerts-base-url',
    placeholder: 'URL',
    defaultNote: 'none. Needed for alerts without `spec.service`',
    describe: 'base URL of the service that has the alerts',
    parse: parseBaseUrl,
  },
  alertsTokenFile: {
    group: 'Platform',
    flag: 'alerts-token-file',
    placeholder: 'FILE',
    defaultNote: '`<credentials-dir>/alerts/token`',
    describe: 'file with the bearer token for alerts. Not below --secrets-dir',
    parse: parsePath,
  },
  credentialsDir: {
    group: 'Platform',
    flag: 'credentials-dir',
    placeholder: 'DIR',
    default: '/etc/pipewright/credentials',
    sandboxDefault: '.pipewright/credentials',
    describe:
      "directory of the platform's credentials: one folder per name in a Service manifest, one file per key",
    parse: parsePath,
  },
  secretsDir: {
    group: 'Platform',
    flag: 'secrets-dir',
    placeholder: 'DIR',
    default: '/etc/pipewright/secrets',
    sandboxDefault: '.pipewright/secrets',
    describe: 'directory of the secrets that pipes reference: one folder per secret, one file per key',
    parse: parsePath,
  },
  ledger: {
    group: 'Ledger',
    flag: 'ledger',
    placeholder: 'URL',
    default: 'sqlite:.pipewright/ledger.db',
    // The sandbox has its own ledger, because the real pipes are not in the sandbox and would count as missing.
    sandboxDefault: 'sqlite:.pipewright/sandbox-ledger.db',
    describe:
      'store of the created resources: sqlite:PATH for one process, kubernetes:[NAMESPACE/]NAME for two pods, or memory: for tests',
    parse: parseLedger,
  },
  ledgerInit: {
    group: 'Ledger',
    flag: 'ledger-init',
    placeholder: 'auto|never',
    default: 'auto',
    describe: 'treat a missing ledger as a first run (auto) or as an error (never)',
    parse: oneOf(['auto', 'never']),
  },
  leaseMs: {
    group: 'Ledger',
    flag: 'lease-duration',
    placeholder: 'D',
    default: '15s',
    describe:
      'with kubernetes:, the standby becomes leader if the Lease is not renewed for this time. Use one value for all processes',
    parse: duration(SECOND, 600 * SECOND),
  },
  ...PAGE_SETTINGS,
  webhookUrl: {
    group: 'Notifications',
    flag: 'webhook-url',
    placeholder: 'URL',
    defaultNote: 'none: no notifications',
    describe:
      'URL that receives a message if a problem begins, grows or ends, or file:PATH of a file with the URL',
    parse: parseWebhookUrl,
  },
  webhookSecretFile: {
    group: 'Notifications',
    flag: 'webhook-secret-file',
    placeholder: 'FILE',
    defaultNote: 'none: messages are not signed',
    describe: 'file with the secret that signs messages. Not below --secrets-dir',
    parse: parsePath,
  },
  intervalMs: {
    group: 'Reconciling',
    flag: 'interval',
    placeholder: 'D',
    default: '5m',
    describe: 'time between two drift checks of a resource',
    parse: duration(SECOND, 24 * HOUR),
  },
  healthyStates: {
    group: 'Reconciling',
    flag: 'healthy-states',
    placeholder: 'LIST',
    defaultNote: 'none: Pipewright uses the documented states of the platform, or judges a state by its name',
    describe:
      'healthy states of pipes and alerts, such as Running,OK, for manifests without policy.healthyStates',
    parse: parseList,
  },
  apiBudget: {
    group: 'Platform',
    flag: 'api-budget',
    placeholder: 'N/D',
    default: '10/10s',
    describe: 'requests per process and credential, at most: N in any period D',
    parse: parseBudget,
  },
  requestTimeoutMs: {
    group: 'Platform',
    flag: 'request-timeout',
    placeholder: 'D',
    default: '20s',
    describe: 'maximum time of one request: more than 2s less than --shutdown-grace',
    parse: duration(100, HOUR),
  },
  concurrency: {
    group: 'Reconciling',
    flag: 'concurrency',
    placeholder: 'N',
    default: '8',
    describe: 'maximum of parallel reconciles',
    parse: wholeNumber(1, 256),
  },
  maxCreates: {
    group: 'Reconciling',
    flag: 'max-creates',
    placeholder: 'N',
    default: '25',
    describe:
      'create limit per service: pending creates plus the creates of the last hour. Above it, creates are blocked',
    parse: wholeNumber(0, 100_000),
  },
  shutdownGraceMs: {
    group: 'Reconciling',
    flag: 'shutdown-grace',
    placeholder: 'D',
    default: '25s',
    describe: 'maximum time to finish running work on a stop',
    parse: duration(SECOND, 2 * HOUR),
  },
  logLevel: {
    group: 'Logs',
    flag: 'log-level',
    placeholder: 'L',
    default: 'info',
    describe: 'minimum level of logged lines: trace, debug, info, warn, error, fatal or silent',
    parse: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
  },
  logFormat: {
    group: 'Logs',
    flag: 'log-format',
    placeholder: 'json|pretty',
    defaultNote: '`json`; on a terminal, `apply` uses `pretty`',
    describe: 'format of log lines: json for machines, pretty for people',
    parse: oneOf(['json', 'pretty']),
  },
  sandbox: {
    group: 'General',
    flag: 'sandbox',
    default: 'false',
    defaultNote: 'off',
    describe: 'use the sandbox, a simulated platform inside this process, with a ledger of its own',
    parse: parseSwitch,
  },
  caFile: {
    group: 'Platform',
    flag: 'ca-file',
    placeholder: 'FILE',
    defaultNote: 'none: only the authorities of Node',
    describe:
      'PEM file of additional certificate authorities, for the platform, the webhook, --server and an https: proxy',
    parse: parsePath,
  },
  clientCertFile: {
    group: 'Platform',
    flag: 'client-cert-file',
    placeholder: 'FILE',
    defaultNote: 'none: no client certificate',
    describe: 'PEM file of the client certificate for the platform, with its intermediate certificates',
    parse: parsePath,
  },
  clientKeyFile: {
    group: 'Platform',
    flag: 'client-key-file',
    placeholder: 'FILE',
    describe:
      'PEM file of the private key of the client certificate, without a passphrase. Not below --secrets-dir',
    parse: parsePath,
  },
  allowInsecureHttp: {
    group: 'Platform',
    flag: 'allow-insecure-http',
    default: 'false',
    defaultNote: 'off',
    describe: 'send credentials over plain http: to other machines',
    parse: parseSwitch,
  },
  allowInsecureTls: {
    group: 'Platform',
    flag: 'allow-insecure-tls',
    default: 'false',
    defaultNote: 'off',
    describe:
      'obey NODE_TLS_REJECT_UNAUTHORIZED=0: send credentials to any server without a check of its certificate',
    parse: parseSwitch,
  },
} as const satisfies Readonly<Record<string, Omit<SettingDefinition, 'env'>>>

export type SettingName = keyof typeof TABLE

export type ValueOf<N extends SettingName> = (typeof TABLE)[N]['parse'] extends Parser<infer T> ? T : never

export const SETTING_NAMES = Object.keys(TABLE) as readonly SettingName[] // the keys of the object above

export function definitionOf(name: SettingName): SettingDefinition {
  const row = TABLE[name]
  return { ...row, env: `PIPEWRIGHT_${row.flag.toUpperCase().replaceAll('-', '_')}` }
}
