import { formatDuration } from '../lib/duration.ts'
import { isLoopbackHost } from '../lib/proxy.ts'
import { parseTarget } from '../lib/webhook-url.ts'
import { problemOf, type SettingProblem, type Environment } from './setting-sources.ts'
import { DEFINITIONS, type ReadValues, type SettingName } from './settings-table.ts'

/** Time to record an outcome after the request's timeout: ms. */
const MARGIN_MS = 2_000

/** @param values without settings that failed to parse */
export function checkRules(values: ReadValues): readonly SettingProblem[] {
  const problems = [
    notInSandbox(values, 'baseUrl'),
    notInSandbox(values, 'alertsBaseUrl'),
    encrypted(values, 'baseUrl'),
    encrypted(values, 'alertsBaseUrl'),
    encrypted(values, 'server'),
    encryptedWebhook(values),
    timeoutWithinGrace(values),
    rememberPipes(values),
    aloneProblem(values, 'clientCertFile', 'clientKeyFile'),
    aloneProblem(values, 'clientKeyFile', 'clientCertFile'),
  ]
  return problems.filter((problem) => problem !== undefined)
}

function notInSandbox(values: ReadValues, name: SettingName): SettingProblem | undefined {
  const { sandbox, [name]: url } = values
  if (sandbox?.value !== true || url === undefined) return undefined
  const why = `the sandbox is on (${sandbox.from ?? '--sandbox'}): it replaces the platform and takes no URL`
  return problemOf(name, url, why, `leave out either --sandbox or --${DEFINITIONS[name].flag}`)
}

function encrypted(
  values: ReadValues,
  name: 'baseUrl' | 'alertsBaseUrl' | 'server',
): SettingProblem | undefined {
  const { allowInsecureHttp, [name]: url } = values
  if (url === undefined || allowInsecureHttp?.value === true) return undefined
  if (url.value.startsWith('https:') || isLoopback(url.value)) return undefined
  const why = 'plain http: would show the credentials to everybody on the network path'
  const right = 'give an https: URL. If the network path is safe, add --allow-insecure-http'
  return problemOf(name, url, why, right)
}

function encryptedWebhook({ webhookUrl, allowInsecureHttp }: ReadValues): SettingProblem | undefined {
  if (webhookUrl === undefined || !('url' in webhookUrl.value)) return undefined
  const parsed = parseTarget(webhookUrl.value.url.reveal(), allowInsecureHttp?.value === true)
  if (typeof parsed !== 'string') return undefined
  return problemOf('webhookUrl', webhookUrl, `it ${parsed}`, 'give an https: URL')
}

const UNCHECKED = 'NODE_TLS_REJECT_UNAUTHORIZED'

/** Whether Node checks no certificates although a configured URL uses TLS. */
export function isUnchecked(values: ReadValues, env: Environment): boolean {
  const { baseUrl, alertsBaseUrl, server, webhookUrl } = values
  const isUsed =
    webhookUrl !== undefined ||
    [baseUrl, alertsBaseUrl, server].some((url) => url?.value.startsWith('https:') === true)
  return env[UNCHECKED] === '0' && isUsed
}

export function uncheckedProblems(values: ReadValues, env: Environment): readonly SettingProblem[] {
  if (!isUnchecked(values, env) || values.allowInsecureTls?.value === true) return []
  const why =
    'without certificate checks, an attacker on the network could read the credentials and impersonate the platform'
  const right = `unset ${UNCHECKED}, and name your certificate authority in --ca-file. For a test, add --allow-insecure-tls`
  return [{ from: UNCHECKED, given: '0', why, right }]
}

function isLoopback(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname)
}

function timeoutWithinGrace({ requestTimeoutMs, shutdownGraceMs }: ReadValues): SettingProblem | undefined {
  if (requestTimeoutMs === undefined || shutdownGraceMs === undefined) return undefined
  if (requestTimeoutMs.value + MARGIN_MS < shutdownGraceMs.value) return undefined
  const timeout = formatDuration(requestTimeoutMs.value)
  const grace = formatDuration(shutdownGraceMs.value)
  const blamed = requestTimeoutMs.from === undefined ? 'shutdown-grace' : 'request-timeout'
  return {
    from: requestTimeoutMs.from ?? shutdownGraceMs.from ?? `--${blamed}`,
    given: blamed === 'shutdown-grace' ? grace : timeout,
    why:
      `a create can take --request-timeout (${timeout}), and must end and be recorded within ` +
      `--shutdown-grace (${grace})`,
    right: `make --shutdown-grace more than ${formatDuration(MARGIN_MS)} longer than --request-timeout`,
  }
}

function aloneProblem(values: ReadValues, name: SettingName, other: SettingName): SettingProblem | undefined {
  const read = values[name]
  if (read === undefined || values[other] !== undefined) return undefined
  const { flag } = DEFINITIONS[other]
  return problemOf(name, read, `it is given without --${flag}`, `give --${flag} as well`)
}

function rememberPipes({ ledger, baseUrl }: ReadValues): SettingProblem | undefined {
  if (ledger?.value !== 'memory:' || baseUrl === undefined || isLoopback(baseUrl.value)) return undefined
  const why = 'a ledger in memory is lost on a restart, and each start would create all pipes again'
  const right = 'give sqlite:PATH. Only --sandbox and a --base-url on this machine can use memory:'
  return problemOf('ledger', ledger, why, right)
}
