import {
  type Parser,
  duration,
  named,
  oneOf,
  parseBaseUrl,
  parseBudget,
  parseHosts,
  parseLedger,
  parseList,
  parseListen,
  parsePath,
  parseSwitch,
  parseTemplate,
  parseWebhookUrl,
  wholeNumber,
} from './parsers.ts'
import { PROFILES } from '../kinds/profiles/profiles.ts'

interface SettingRow {
  /** Such as `DIR`. Undefined for a switch. */
  readonly placeholder?: string
  readonly default?: string
  readonly sandboxDefault?: string
  /** Describes the default in the docs if `default` cannot. */
  readonly defaultNote?: string
  readonly describe: string
  readonly parse: Parser<unknown>
}

const SECOND = 1_000
const HOUR = 3_600 * SECOND

function switchRow(describe: string) {
  return { default: 'false', defaultNote: 'off', describe, parse: parseSwitch }
}

function ofGroup<const Rows extends Readonly<Record<string, SettingRow>>>(group: string, rows: Rows) {
  const entries = Object.entries(rows).map(([name, row]) => [name, { ...row, group }])
  return Object.fromEntries(entries) as { readonly [N in keyof Rows]: Rows[N] & { readonly group: string } } // the same rows
}

/** Defines flags, variables, file keys, help and docs. Defaults go through the same parsers. */
const TABLE = {
  ...ofGroup('General', {
    config: {
      placeholder: 'FILE',
      describe: 'YAML file of settings: names of flags without leading dashes, and their values',
      parse: parsePath,
    },
    adminTokenFile: {
      placeholder: 'FILE',
      sandboxDefault: '.pipewright/admin-token',
      defaultNote: 'none: only commands on the same host can send them',
      describe:
        'file with the token for POST /-/reconcile, POST /-/allow, POST /-/operate and POST /api/v1/plan, outside --secrets-dir. Commands send this token',
      parse: parsePath,
    },
    server: {
      placeholder: 'URL',
      describe:
        'address of a running daemon. Commands that can ask the daemon do so, instead of reading a ledger',
      parse: parseBaseUrl,
    },
    sandbox: switchRow('use the sandbox, a simulated platform inside this process, with a ledger of its own'),
  }),
  ...ofGroup('Manifests', {
    manifests: {
      placeholder: 'DIR',
      default: 'manifests',
      describe: 'directory of the manifests',
      parse: parsePath,
    },
  }),
  ...ofGroup('Platform', {
    profile: {
      placeholder: PROFILES.map(({ name }) => name).join('|'),
      default: 'default',
      describe: 'interface of the platform: its operations and the names of its fields',
      parse: named(PROFILES),
    },
    baseUrl: {
      placeholder: 'URL',
      defaultNote: 'none; needed unless `--sandbox`',
      describe: 'base URL of the platform, such as https://api.clickhouse.cloud',
      parse: parseBaseUrl,
    },
    alertsBaseUrl: {
      placeholder: 'URL',
      defaultNote: 'none. Needed for alerts without `spec.service`',
      describe: 'base URL of the service that has the alerts',
      parse: parseBaseUrl,
    },
    alertsTokenFile: {
      placeholder: 'FILE',
      defaultNote: '`<credentials-dir>/alerts/token`',
      describe: 'file with the bearer token for alerts. Not below --secrets-dir',
      parse: parsePath,
    },
    credentialsDir: {
      placeholder: 'DIR',
      default: '/etc/pipewright/credentials',
      sandboxDefault: '.pipewright/credentials',
      describe:
        "directory of the platform's credentials: one folder per name in a Service manifest, one file per key",
      parse: parsePath,
    },
    secretsDir: {
      placeholder: 'DIR',
      default: '/etc/pipewright/secrets',
      sandboxDefault: '.pipewright/secrets',
      describe: 'directory of the secrets that pipes reference: one folder per secret, one file per key',
      parse: parsePath,
    },
    apiBudget: {
      placeholder: 'N/D',
      default: '10/10s',
      describe: 'requests per process and credential, at most: N in any period D',
      parse: parseBudget,
    },
    requestTimeoutMs: {
      placeholder: 'D',
      default: '20s',
      describe: 'maximum time of one request: more than 2s less than --shutdown-grace',
      parse: duration(100, HOUR),
    },
    caFile: {
      placeholder: 'FILE',
      defaultNote: 'none: only the authorities of Node',
      describe:
        'PEM file of additional certificate authorities, for the platform, the webhook, --server and an https: proxy',
      parse: parsePath,
    },
    clientCertFile: {
      placeholder: 'FILE',
      defaultNote: 'none: no client certificate',
      describe: 'PEM file of the client certificate for the platform, with its intermediate certificates',
      parse: parsePath,
    },
    clientKeyFile: {
      placeholder: 'FILE',
      describe:
        'PEM file of the private key of the client certificate, without a passphrase. Not below --secrets-dir',
      parse: parsePath,
    },
    allowInsecureHttp: switchRow('send credentials over plain http: to other machines'),
    allowInsecureTls: switchRow(
      'obey NODE_TLS_REJECT_UNAUTHORIZED=0: send credentials to any server without a check of its certificate',
    ),
  }),
  ...ofGroup('Ledger', {
    ledger: {
      placeholder: 'URL',
      default: 'sqlite:.pipewright/ledger.db',
      // The sandbox has its own ledger, because the real pipes are not in the sandbox and would count as missing.
      sandboxDefault: 'sqlite:.pipewright/sandbox-ledger.db',
      describe:
        'store of the created resources: sqlite:PATH for one process, kubernetes:[NAMESPACE/]NAME for two pods, or memory: for tests',
      parse: parseLedger,
    },
    ledgerInit: {
      placeholder: 'auto|never',
      default: 'auto',
      describe: 'treat a missing ledger as a first run (auto) or as an error (never)',
      parse: oneOf(['auto', 'never']),
    },
    leaseDurationMs: {
      placeholder: 'D',
      default: '15s',
      describe:
        'with kubernetes:, the standby becomes leader if the Lease is not renewed for this time. Use one value for all processes',
      parse: duration(SECOND, 600 * SECOND),
    },
  }),
  ...ofGroup('Page and HTTP', {
    listen: {
      placeholder: 'HOST:PORT',
      default: '127.0.0.1:8080',
      describe: 'address of the page, the metrics and the health checks. Port 0: any free port',
      parse: parseListen,
    },
    metricsListen: {
      placeholder: 'HOST:PORT',
      defaultNote: 'none: they share the address of the page',
      describe:
        'separate address of the metrics and the health checks. The address of the page then has no metrics',
      parse: parseListen,
    },
    allowedHosts: {
      placeholder: 'LIST',
      defaultNote: 'none: IP addresses, `localhost`, and the host of `--public-url`',
      describe:
        'additional host names of the page and the API, such as pipewright.example.com,.svc.cluster.local. With *, every web site that a user opens can read the page by DNS rebinding',
      parse: parseHosts,
    },
    publicUrl: {
      placeholder: 'URL',
      describe: 'address at which users open the page, for links in webhook messages',
      parse: parseBaseUrl,
    },
    repositoryUrl: {
      placeholder: 'TEMPLATE',
      defaultNote: 'none: files and commits are not links',
      describe:
        'address of a manifest in a browser, for links on the page, such as https://git.example/blob/{revision}/{file}',
      parse: parseTemplate,
    },
    namedResources: {
      placeholder: 'N',
      default: '1000',
      describe:
        'maximum number of resources whose name is a label in metrics. The others share the name "_other"',
      parse: wholeNumber(0, 100_000),
    },
  }),
  ...ofGroup('Notifications', {
    webhookUrl: {
      placeholder: 'URL',
      defaultNote: 'none: no notifications',
      describe:
        'URL that receives a message if a problem begins, grows or ends, or file:PATH of a file with the URL',
      parse: parseWebhookUrl,
    },
    webhookSecretFile: {
      placeholder: 'FILE',
      defaultNote: 'none: messages are not signed',
      describe: 'file with the secret that signs messages. Not below --secrets-dir',
      parse: parsePath,
    },
  }),
  ...ofGroup('Reconciling', {
    intervalMs: {
      placeholder: 'D',
      default: '5m',
      describe: 'time between two drift checks of a resource',
      parse: duration(SECOND, 24 * HOUR),
    },
    healthyStates: {
      placeholder: 'LIST',
      defaultNote:
        'none: Pipewright uses the documented states of the platform, or judges a state by its name',
      describe:
        'healthy states of pipes and alerts, such as Running,OK, for manifests without policy.healthyStates',
      parse: parseList,
    },
    concurrency: {
      placeholder: 'N',
      default: '8',
      describe: 'maximum of parallel reconciles',
      parse: wholeNumber(1, 256),
    },
    maxCreates: {
      placeholder: 'N',
      default: '25',
      describe:
        'create limit per service: pending creates plus the creates of the last hour. Above it, creates are blocked',
      parse: wholeNumber(0, 100_000),
    },
    shutdownGraceMs: {
      placeholder: 'D',
      default: '25s',
      describe: 'maximum time to finish running work on a stop',
      parse: duration(SECOND, 2 * HOUR),
    },
  }),
  ...ofGroup('Logs', {
    logLevel: {
      placeholder: 'L',
      default: 'info',
      describe: 'minimum level of logged lines: trace, debug, info, warn, error, fatal or silent',
      parse: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    },
    logFormat: {
      placeholder: 'json|pretty',
      defaultNote: '`json`; on a terminal, `apply` uses `pretty`',
      describe: 'format of log lines: json for machines, pretty for people',
      parse: oneOf(['json', 'pretty']),
    },
  }),
}

export type SettingName = keyof typeof TABLE

type ValueOf<N extends SettingName> = (typeof TABLE)[N]['parse'] extends Parser<infer T> ? T : never

export type SettingValues = {
  readonly [N in SettingName]: (typeof TABLE)[N] extends { readonly default: string }
    ? ValueOf<N>
    : ValueOf<N> | undefined
}

export interface Read<T> {
  readonly value: T
  readonly from: string | undefined
}

export type ReadValues = { readonly [N in SettingName]?: Read<ValueOf<N>> }

export interface SettingDefinition extends SettingRow {
  readonly group: string
  /** Without leading dashes. */
  readonly flag: string
  readonly env: string
}

export const DEFINITIONS = Object.fromEntries(
  Object.entries(TABLE).map(([name, row]) => [name, { ...row, ...namesOf(name) }]),
) as Readonly<Record<SettingName, SettingDefinition>> // the rows of the table

/** The flag of `requestTimeoutMs` is `request-timeout`. */
function namesOf(name: string) {
  const flag = name.replace(/Ms$/, '').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return { flag, env: `PIPEWRIGHT_${flag.toUpperCase().replaceAll('-', '_')}` }
}

export const SETTING_NAMES = Object.keys(TABLE) as readonly SettingName[] // the keys of the object above
