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
} from './parsers.ts'
import { PROFILES } from '../kinds/profiles/profiles.ts'
import { PAGE_SETTINGS } from './page-settings.ts'
import type { SettingDefinition } from './setting-definition.ts'

export interface Read<T> {
  readonly value: T
  readonly from: string | undefined
}

/** Without settings that have no value or an invalid value. */
export type ReadValues = { readonly [N in SettingName]?: Read<ValueOf<N>> }

const SECOND = 1_000
const HOUR = 3_600 * SECOND

/** For flags, variables, the file, the help and the docs. Defaults go through the same parsers. */
export const TABLE = {
  config: {
    group: 'General',
    flag: 'config',
    placeholder: 'FILE',
    describe: 'YAML file with settings: the names of the flags, without dashes in front, and their values',
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
    describe: 'which service the platform is: what it offers, and how its fields are called',
    parse: named(PROFILES),
  },
  baseUrl: {
    group: 'Platform',
    flag: 'base-url',
    placeholder: 'URL',
    defaultNote: 'none; needed unless `--sandbox`',
    describe: 'where the platform answers: {base_url} of its interface',
    parse: parseBaseUrl,
  },
  alertsBaseUrl: {
    group: 'Platform',
    flag: 'alerts-base-url',
    placeholder: 'URL',
    defaultNote: 'none; needed once there is an `Alert`',
    describe: 'where alerts are read: {alerts_base_url} of the interface',
    parse: parseBaseUrl,
  },
  alertsTokenFile: {
    group: 'Platform',
    flag: 'alerts-token-file',
    placeholder: 'FILE',
    defaultNote: '`<credentials-dir>/alerts/token`',
    describe: 'file with the bearer token for alerts; not below --secrets-dir',
    parse: parsePath,
  },
  credentialsDir: {
    group: 'Platform',
    flag: 'credentials-dir',
    placeholder: 'DIR',
    default: '/etc/pipewright/credentials',
    sandboxDefault: '.pipewright/credentials',
    describe:
      "directory of the platform's credentials, which Services name: a folder each, with a file for each key",
    parse: parsePath,
  },
  secretsDir: {
    group: 'Platform',
    flag: 'secrets-dir',
    placeholder: 'DIR',
    default: '/etc/pipewright/secrets',
    sandboxDefault: '.pipewright/secrets',
    describe:
      'directory of the secrets of sources, which pipes name: a folder each, with a file for each key',
    parse: parsePath,
  },
  ledger: {
    group: 'Ledger',
    flag: 'ledger',
    placeholder: 'URL',
    default: 'sqlite:.pipewright/ledger.db',
    // A shared ledger would mix real and sandbox ids, and report the real pipes as missing.
    sandboxDefault: 'sqlite:.pipewright/sandbox-ledger.db',
    describe:
      'store of the created resources: sqlite:PATH, kubernetes:[NAMESPACE/]NAME in the cluster for two pods with one acting, or memory: for tests',
    parse: parseLedger,
  },
  ledgerInit: {
    group: 'Ledger',
    flag: 'ledger-init',
    placeholder: 'auto|never',
    default: 'auto',
    describe: 'whether a missing ledger is a first run (auto) or an error (never)',
    parse: oneOf(['auto', 'never']),
  },
  leaseMs: {
    group: 'Ledger',
    flag: 'lease-duration',
    placeholder: 'D',
    default: '15s',
    describe:
      'with kubernetes:, the time until another process takes over from a silent process. It must be equal for all processes',
    parse: duration(SECOND, 600 * SECOND),
  },
  ...PAGE_SETTINGS,
  webhookUrl: {
    group: 'Notifications',
    flag: 'webhook-url',
    placeholder: 'URL',
    defaultNote: 'none: no notifications',
    describe:
      'receiver of a message if a problem begins, grows or ends, or file:PATH for a file that contains the URL',
    parse: parseWebhookUrl,
  },
  webhookSecretFile: {
    group: 'Notifications',
    flag: 'webhook-secret-file',
    placeholder: 'FILE',
    defaultNote: 'none: messages are not signed',
    describe: 'file with the secret that signs messages; not below --secrets-dir',
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
    defaultNote:
      'none: names that suggest a failure or a change are judged; any other is ready, but not judged',
    describe:
      'healthy states of pipes and alerts, such as Running,OK, for manifests without policy.healthyStates',
    parse: parseList,
  },
  apiBudget: {
    group: 'Platform',
    flag: 'api-budget',
    placeholder: 'N/D',
    default: '10/10s',
    describe: 'most requests in any such time, per credential',
    parse: parseBudget,
  },
  requestTimeoutMs: {
    group: 'Platform',
    flag: 'request-timeout',
    placeholder: 'D',
    default: '20s',
    describe: 'longest time for one request; at least 2s less than --shutdown-grace',
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
      'create limit: when more creations than this are pending in a service, together with those made there within the last hour, all are refused',
    parse: wholeNumber(0, 100_000),
  },
  shutdownGraceMs: {
    group: 'Reconciling',
    flag: 'shutdown-grace',
    placeholder: 'D',
    default: '25s',
    describe: 'longest time to finish running work when asked to stop',
    parse: duration(SECOND, 2 * HOUR),
  },
  logLevel: {
    group: 'Logs',
    flag: 'log-level',
    placeholder: 'L',
    default: 'info',
    describe: 'least level that is logged: trace, debug, info, warn, error, fatal or silent',
    parse: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
  },
  logFormat: {
    group: 'Logs',
    flag: 'log-format',
    placeholder: 'json|pretty',
    default: 'json',
    describe: 'how log lines are written: json for machines, pretty for people',
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
    defaultNote: 'none: the authorities of Node',
    describe:
      'certificates in PEM of authorities that are believed as well: by requests to the platform, to the webhook, to --server, and to an https: proxy',
    parse: parsePath,
  },
  clientCertFile: {
    group: 'Platform',
    flag: 'client-cert-file',
    placeholder: 'FILE',
    defaultNote: 'none: no client certificate',
    describe: 'certificate in PEM that is shown to the platform, with those between it and its authority',
    parse: parsePath,
  },
  clientKeyFile: {
    group: 'Platform',
    flag: 'client-key-file',
    placeholder: 'FILE',
    describe: 'its private key in PEM, without a passphrase; not below --secrets-dir',
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
