import { isIPv6 } from 'node:net'
import { formatDuration, parseDuration } from '../lib/duration.ts'
import { nearest } from '../lib/nearest.ts'
import { Secret } from '../lib/secret.ts'
import { parseTarget, type WebhookUrl } from '../lib/webhook-url.ts'

/** Only a shell or a supervisor would replace such text: `~/x`, `$HOME`, `${HOME}`, `$(HOME)`, `%h`, `"x"`. */
const UNEXPANDED = /^~[\w.-]*(?=\/|$)|\$(?:\w+|\{[^}]*\}?|\([^)]*\)?)|%[a-z]|^["']|["']$/i

const SCHEME = /^(?:file|sqlite):|^[a-z][a-z\d+.-]*:\/\//i

export function parsePath(text: string): Parsed<string> {
  if (text === '') return bad('it is empty', 'give a path')
  if (text.includes('\0')) return bad('it holds a NUL character', 'give a path')
  const right = 'give the path itself, such as /var/lib/pipewright/ledger.db'
  if (text !== text.trim()) return bad('it begins or ends with a blank', right)
  const scheme = SCHEME.exec(text)?.[0]
  if (scheme !== undefined) return bad(`it begins with ${scheme}, which is no part of a path`, right)
  const unexpanded = UNEXPANDED.exec(text)?.[0]
  if (unexpanded === undefined) return good(text)
  const other = unexpanded.startsWith('~') ? `, or ./${text}` : ''
  return bad(`${unexpanded} is not replaced here`, right + other)
}

export function parseSwitch(text: string): Parsed<boolean> {
  const word = text.toLowerCase()
  if (['true', '1', 'yes', 'on'].includes(word)) return good(true)
  if (['false', '0', 'no', 'off'].includes(word)) return good(false)
  return bad('it is not true or false', 'give true or false')
}

export function parseList(text: string): Parsed<readonly string[]> {
  const items = text.split(',').map((item) => item.trim())
  const right = 'give texts with commas between them, such as Running,OK'
  if (text.trim() === '') return bad('it is empty', right)
  if (items.includes('')) return bad('an item between two commas is empty', right)
  return good([...new Set(items)])
}

const HOST_NAME = /^(?:\*|\.?[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*)$/

/** Comma-separated host names in lower case. `*` matches any host, `.example.com` any host below it. */
export function parseHosts(text: string): Parsed<readonly string[]> {
  const right = 'give names without scheme and port, such as pipewright.example.com,.svc.cluster.local, or *'
  const hosts = parseList(text.toLowerCase())
  if (!hosts.ok) return bad(hosts.why, right)
  const wrong = hosts.value.find((host) => !HOST_NAME.test(host))
  return wrong === undefined ? hosts : bad(`"${wrong}" is not the name of a host`, right)
}

export function shortText(max: number): Parser<string> {
  return (text) =>
    text !== '' && text.length <= max
      ? good(text)
      : bad(`it has ${text.length} characters`, `give 1 to ${max}`)
}

export function oneOf<const T extends string>(words: readonly T[]): Parser<T> {
  return (text) => {
    const word = words.find((known) => known === text)
    if (word !== undefined) return good(word)
    const meant = nearest(text, words)
    const question = meant === undefined ? '' : `; did you mean ${meant}?`
    return bad('it is not one of the possible values', `give ${words.join(', ')}${question}`)
  }
}

export function named<T extends { readonly name: string }>(values: readonly T[]): Parser<T> {
  const byName = new Map(values.map((value) => [value.name, value]))
  const parse = oneOf([...byName.keys()])
  return (text) => {
    const found = byName.get(text)
    return found === undefined ? (parse(text) as Parsed<never>) : good(found) // no value has this name
  }
}

export function wholeNumber(min: number, max: number): Parser<number> {
  return (text) => {
    const right = `give a whole number from ${min} to ${max}`
    if (!/^[+-]?\d+$/.test(text)) return bad('it is not a whole number', right)
    const value = Number(text)
    if (value < min) return bad(`it is less than ${min}`, right)
    if (value > max) return bad(`it is more than ${max}`, right)
    return good(value)
  }
}

/** The limits and the result are milliseconds. */
export function duration(min: number, max: number): Parser<number> {
  return (text) => {
    const right = `give a duration from ${formatDuration(min)} to ${formatDuration(max)}, such as 30s or 1m30s`
    const value = parseDuration(text)
    if (value === undefined) {
      return /^\d+$/.test(text) ? bad('it has no unit', right) : bad('it is not a duration', right)
    }
    if (value < min) return bad(`it is shorter than ${formatDuration(min)}`, right)
    if (value > max) return bad(`it is longer than ${formatDuration(max)}`, right)
    return good(value)
  }
}

export function parseBudget(text: string): Parsed<{ readonly requests: number; readonly windowMs: number }> {
  const right = 'give requests and a time, such as 10/10s: at most 10 requests in any 10 seconds'
  const [count = '', time, ...more] = text.split('/')
  if (time === undefined || more.length > 0) return bad('it is not N/D', right)
  const requests = wholeNumber(1, 100_000)(count)
  if (!requests.ok) return bad(`the number of requests is wrong: ${requests.why}`, right)
  const window = duration(100, 3_600_000)(time)
  if (!window.ok) return bad(`the time is wrong: ${window.why}`, right)
  return good({ requests: requests.value, windowMs: window.value })
}

const LISTEN = /^(?:\[([^\]]*)\]|([^\s:[\]/@]+)):(\d{1,5})$/

/** @returns `host` without the brackets of an IPv6 address; `port` 0 selects a free port */
export function parseListen(text: string): Parsed<{ readonly host: string; readonly port: number }> {
  const right = 'give HOST:PORT, such as 127.0.0.1:8080, or [::]:8080 for every address'
  const match = LISTEN.exec(text)
  if (match === null) {
    if (/^:?\d+$/.test(text)) return bad('it has no host', right)
    if (text.split(':').length > 2) return bad('an IPv6 host must be in brackets', right)
    return bad(text.includes(':') ? 'it is not HOST:PORT' : 'it has no port', right)
  }
  const [, address, name = '', digits] = match
  if (address?.includes('%') === true) return bad('the address cannot have a zone, such as %eth0', right)
  if (address !== undefined && !isIPv6(address)) return bad('the brackets hold no IPv6 address', right)
  const port = Number(digits)
  if (port > 65_535) return bad('the port is more than 65535', right)
  return good({ host: address ?? name, port })
}

/** An http(s) URL without credentials, query or fragment. The result has no slash at its end. */
export function parseBaseUrl(text: string): Parsed<string> {
  const right = 'give a URL such as https://api.example.com'
  const fault = urlFault(text)
  if (fault === CREDENTIALS) return badUrl(text, fault, `${right}; credentials belong into --credentials-dir`)
  if (fault !== undefined) return badUrl(text, fault, right)
  if (text.includes('?')) return badUrl(text, 'it has a query', right)
  if (text.includes('#')) return badUrl(text, 'it has a fragment', right)
  return good(new URL(text).href.replace(/\/+$/, ''))
}

const CREDENTIALS = 'it carries credentials'

function urlFault(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || !/^https?:\/\//i.test(text)) return 'it is not an http or https URL'
  return url.username !== '' || url.password !== '' ? CREDENTIALS : undefined
}

/** Hides a text with `@`, `?` or `#`, because it might carry a password or a token. */
function badUrl(text: string, why: string, right: string): Parsed<never> {
  return { ok: false, why, right, ...(/[@?#]/.test(text) && { hide: true }) }
}

/** The URL is a secret: messages never show it. */
export function parseWebhookUrl(text: string): Parsed<WebhookUrl> {
  const right = 'give a URL such as https://hooks.example.com/…, or file:/path/of/a/file that holds the URL'
  if (text.startsWith('file:')) {
    const file = text.slice('file:'.length).replace(/^\/\/(?=\/)/, '')
    if (file === '' || file.startsWith('//')) return bad('it names no file', right)
    const path = parsePath(file)
    return path.ok ? good({ file }) : path
  }
  const parsed = parseTarget(text, true)
  if (typeof parsed !== 'string') return good({ url: new Secret(text) })
  return { ok: false, why: `it ${parsed}`, right, hide: true }
}

const TEMPLATE_NAMES = ['{revision}', '{file}', '{line}']

/** An http(s) URL with `{revision}`, `{file}` and `{line}`. The page replaces them with encoded values. */
export function parseTemplate(text: string): Parsed<string> {
  const right = 'give a URL such as https://github.com/acme/pipes/blob/{revision}/manifests/{file}#L{line}'
  const unknown = (text.match(/\{[^}]*\}?/g) ?? []).find((name) => !TEMPLATE_NAMES.includes(name))
  if (unknown !== undefined)
    return badUrl(text, `${unknown} is not one of ${TEMPLATE_NAMES.join(', ')}`, right)
  if (!text.includes('{file}')) return badUrl(text, 'it does not have {file}', right)
  const fault = urlFault(text.replaceAll(/[{}]/g, ''))
  return fault === undefined ? good(text) : badUrl(text, fault, right)
}

/** `sqlite:PATH`, `kubernetes:NAME` or `memory:`. Opening the ledger checks whether it exists. */
export function parseLedger(text: string): Parsed<string> {
  const right =
    'give sqlite:PATH, such as sqlite:/var/lib/pipewright/ledger.db, or kubernetes:NAME, kubernetes:NAMESPACE/NAME or memory:'
  if (text === 'memory:') return good(text)
  if (text.startsWith('kubernetes:'))
    return /^kubernetes:([a-z0-9][-a-z0-9]*\/)?[a-z0-9][-a-z0-9]*$/.test(text)
      ? good(text)
      : bad('the name after kubernetes: is not valid in Kubernetes', right)
  if (!text.startsWith('sqlite:')) return bad('there is no such kind of ledger', right)
  const path = text.slice('sqlite:'.length)
  if (path === '') return bad('it names no file', right)
  if (path.startsWith(':') || /^\/\/[^/]/.test(path)) {
    return bad('the part after sqlite: is not the path of a file', right)
  }
  if (path.includes('?')) return bad('options after ? are not supported', right)
  const parsed = parsePath(path)
  return parsed.ok ? good(text) : parsed
}

type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false
      readonly why: string
      readonly right: string
      /** The text might hold a secret. */
      readonly hide?: true
    }

export type Parser<T> = (text: string) => Parsed<T>

function good<T>(value: T): Parsed<T> {
  return { ok: true, value }
}

function bad(why: string, right: string): Parsed<never> {
  return { ok: false, why, right }
}
