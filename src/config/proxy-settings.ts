import { isDirect, type ProxyAddress, type ProxySettings } from '../lib/proxy.ts'
import { Secret } from '../lib/secret.ts'
import type { SettingProblem, Environment } from './setting-sources.ts'
import type { ReadValues } from './settings-table.ts'

/** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in upper or lower case. */
export function readProxies(env: Environment, values: ReadValues) {
  const [, noProxy = ''] = variableOf(env, 'NO_PROXY') ?? []
  const entries = noProxy.split(/[,\s]+/).filter((entry) => entry !== '')
  const [https, http] = [proxyOf(env, 'HTTPS_PROXY'), proxyOf(env, 'HTTP_PROXY')]
  /** Invalid variables that a request would use. Their values can hold a password. */
  const problems = [
    ...problemsOf(https, isUsed('https:', entries, values)),
    ...problemsOf(http, isUsed('http:', entries, values)),
  ]
  return { proxies: { https: addressOf(https), http: addressOf(http), noProxy: entries }, problems }
}

type ProxyVariable = 'HTTPS_PROXY' | 'HTTP_PROXY' | 'NO_PROXY'

type ReadProxy = ProxyAddress | SettingProblem | undefined

/** Prefers lower case, as curl does. An empty variable counts as unset. */
function variableOf(env: Environment, name: ProxyVariable): readonly [string, string] | undefined {
  return [name.toLowerCase(), name]
    .map((variable) => [variable, env[variable]?.trim() ?? ''] as const)
    .find(([, text]) => text !== '')
}

function proxyOf(env: Environment, name: ProxyVariable): ReadProxy {
  const [from, text] = variableOf(env, name) ?? []
  if (from === undefined || text === undefined) return undefined
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (url === null || url.hostname === '') return problem(from, 'it is not a URL')
  if (url.protocol.startsWith('socks')) return problem(from, 'a SOCKS proxy cannot be used')
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return problem(from, 'it is not an http or https URL')
  const login = loginOf(url)
  // If a password has an unencoded slash, the URL's path begins there, so the `@` is in the path.
  const isCut = `${url.pathname}${url.search}${url.hash}`.includes('@')
  if (login === undefined || isCut) return problem(from, 'its user or password is not URL-encoded')
  return { origin: url.origin, ...login, from }
}

function problem(from: string, why: string): SettingProblem {
  const right = 'give the proxy as http://HOST:PORT or http://USER:PASSWORD@HOST:PORT'
  return { from, why, right }
}

function loginOf({ username, password }: URL): Pick<ProxyAddress, 'authorization' | 'secrets'> | undefined {
  if (username === '' && password === '') return { authorization: undefined, secrets: [] }
  try {
    const [user, word] = [decodeURIComponent(username), decodeURIComponent(password)]
    const encoded = Buffer.from(`${user}:${word}`, 'utf8').toString('base64')
    // Without a password, the user name is masked, because it is then a token.
    const [plain, written] = word === '' ? [user, username] : [word, password]
    const secrets = [plain, written, encoded].filter((text) => text !== '').map((text) => new Secret(text))
    return { authorization: new Secret(`Basic ${encoded}`), secrets }
  } catch {
    return undefined
  }
}

function addressOf(read: ReadProxy): ProxyAddress | undefined {
  return read !== undefined && 'origin' in read ? read : undefined
}

function problemsOf(read: ReadProxy, isNeeded: boolean): readonly SettingProblem[] {
  return isNeeded && read !== undefined && 'why' in read ? [read] : []
}

/** Whether a configured URL needs the proxy. A webhook always counts, because the file with its URL can change. */
function isUsed(
  protocol: 'https:' | 'http:',
  noProxy: ProxySettings['noProxy'],
  { webhookUrl, baseUrl, alertsBaseUrl, server }: ReadValues,
): boolean {
  if (webhookUrl !== undefined) return true
  const urls = [baseUrl, alertsBaseUrl, server].flatMap((read) =>
    read === undefined ? [] : [new URL(read.value)],
  )
  return urls.some((url) => url.protocol === protocol && !isDirect(url, noProxy))
}
