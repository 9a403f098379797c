import { formatDuration } from '../lib/duration.ts'
import { isLoopbackHost } from '../lib/proxy.ts'
import { parseTarget } from '../lib/webhook-url.ts'
import type { SettingProblem } from './setting-problem.ts'
import type { Environment } from './setting-sources.ts'
import type { Read, ReadValues } from './settings-table.ts'

/** What a request needs beyond its timeout until its outcome is in the ledger, in milliseconds. */
const MARGIN_MS = 2_000

/** A rule between settings, each of which is right by itself; settings that did not parse are not there. */
type Rule = (values: ReadValues) => SettingProblem | undefined

const RULES: readonly Rule[] = [
  (values) => notInSandbox(values, 'base-url', values.baseUrl),
  (values) => notInSandbox(values, 'alerts-base-url', values.alertsBaseUrl),
  (values) => encrypted(values, 'base-url', values.baseUrl),
  (values) => encrypted(values, 'alerts-base-url', values.alertsBaseUrl),
  (values) => encrypted(values, 'server', values.server),
  encryptedWebhook,
  timeoutWithinGrace,
  rememberPipes,
  (values) =>
    aloneProblem('client-cert-file', values.clientCertFile, 'client-key-file', values.clientKeyFile),
  (values) =>
    aloneProblem('client-key-file', values.clientKeyFile, 'client-cert-file', values.clientCertFile),
]

export function checkRules(values: ReadValues): readonly SettingProblem[] {
  return RULES.flatMap((rule) => rule(values) ?? [])
}

/** The sandbox brings its own; who names another platform expects to reach it. */
function notInSandbox(
  { sandbox }: ReadValues,
  flag: string,
  url: Read<string> | undefined,
): SettingProblem | undefined {
  if (sandbox?.value !== true || url === undefined) return undefined
  return {
    setting: flag,
    from: url.from ?? `--${flag}`,
    given: url.value,
    why: `the sandbox is on (${sandbox.from ?? '--sandbox'}) and is a platform of its own`,
    right: `leave out either --sandbox or --${flag}`,
  }
}

function encrypted(
  { allowInsecureHttp }: ReadValues,
  flag: string,
  url: Read<string> | undefined,
): SettingProblem | undefined {
  if (url === undefined || allowInsecureHttp?.value === true) return undefined
  if (url.value.startsWith('https:') || isLoopback(url.value)) return undefined
  return {
    setting: flag,
    from: url.from ?? `--${flag}`,
    given: url.value,
    why: 'credentials would travel over plain http: for everybody on the way to read',
    right: 'give an https: URL; or, if the way is safe, --allow-insecure-http as well',
  }
}

function encryptedWebhook({ webhookUrl, allowInsecureHttp }: ReadValues): SettingProblem | undefined {
  if (webhookUrl === undefined || !('url' in webhookUrl.value)) return undefined
  const parsed = parseTarget(webhookUrl.value.url.reveal(), allowInsecureHttp?.value === true)
  if (typeof parsed !== 'string') return undefined
  const from = webhookUrl.from ?? '--webhook-url'
  return { setting: 'webhook-url', from, given: undefined, why: `it ${parsed}`, right: 'give an https: URL' }
}

/** With this Node checks no certificate of any server. */
const UNCHECKED = 'NODE_TLS_REJECT_UNAUTHORIZED'

/** Whether Node is told to check no certificates, although something is reached over TLS. */
export function isUnchecked(values: ReadValues, env: Environment): boolean {
  const { baseUrl, alertsBaseUrl, server, webhookUrl } = values
  const isUsed =
    webhookUrl !== undefined ||
    [baseUrl, alertsBaseUrl, server].some((url) => url?.value.startsWith('https:') === true)
  return env[UNCHECKED] === '0' && isUsed
}

/** What a command that reaches something over TLS is refused with, then. */
export function uncheckedProblem(values: ReadValues, env: Environment): SettingProblem | undefined {
  if (!isUnchecked(values, env) || values.allowInsecureTls?.value === true) return undefined
  return {
    setting: 'allow-insecure-tls',
    from: UNCHECKED,
    given: '0',
    why: 'no certificate would be checked, and whoever is on the way could read the credentials and answer in place of the platform',
    right:
      'unset it, and name the certificate authority of your own in --ca-file; or, for a test, give --allow-insecure-tls as well',
  }
}

function isLoopback(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname)
}

/** A create that has begun must be able to end, and its outcome be recorded, while the process stops (law 2). */
function timeoutWithinGrace({ requestTimeoutMs, shutdownGraceMs }: ReadValues): SettingProblem | undefined {
  if (requestTimeoutMs === undefined || shutdownGraceMs === undefined) return undefined
  if (requestTimeoutMs.value + MARGIN_MS < shutdownGraceMs.value) return undefined
  const timeout = formatDuration(requestTimeoutMs.value)
  const grace = formatDuration(shutdownGraceMs.value)
  const blamed = requestTimeoutMs.from === undefined ? 'shutdown-grace' : 'request-timeout'
  return {
    setting: blamed,
    from: requestTimeoutMs.from ?? shutdownGraceMs.from ?? `--${blamed}`,
    given: blamed === 'shutdown-grace' ? grace : timeout,
    why:
      `a create may take as long as --request-timeout (${timeout}), and must be able to end and be recorded within ` +
      `--shutdown-grace (${grace})`,
    right: `make --shutdown-grace more than ${formatDuration(MARGIN_MS)} longer than --request-timeout`,
  }
}

/** A certificate is nothing without its key, and a key nothing without its certificate. */
function aloneProblem(
  flag: string,
  read: Read<string> | undefined,
  otherFlag: string,
  other: Read<string> | undefined,
): SettingProblem | undefined {
  if (read === undefined || other !== undefined) return undefined
  const from = read.from ?? `--${flag}`
  const why = `it is given without --${otherFlag}`
  return { setting: flag, from, given: read.value, why, right: `give --${otherFlag} as well` }
}

/** With a ledger that forgets, every start would create every pipe once more (law 1). */
function rememberPipes({ ledger, baseUrl }: ReadValues): SettingProblem | undefined {
  if (ledger?.value !== 'memory:' || baseUrl === undefined || isLoopback(baseUrl.value)) return undefined
  return {
    setting: 'ledger',
    from: ledger.from ?? '--ledger',
    given: ledger.value,
    why: 'it forgets, and each start would create all pipes once more on a platform that is not a test',
    right: 'give sqlite:PATH; memory: is for --sandbox and for a --base-url on this machine',
  }
}
