import { ruleError, ruleWarning, type RuleFinding } from '../finding.ts'

const PATH = ['spec', 'source', 'kafka', 'brokers']

/** At most this many entries are looked at and spelled out. */
const MOST_ENTRIES = 50

/** The port of Kafka unless somebody chose another one. */
const USUAL_PORT = '9092'

/**
 * The brokers are a text of entries `host:port`. The interface does not say whether it takes a scheme, or a host without a port: these are
 * warnings. A port that cannot be one is an error.
 */
export function brokerRules(brokers: string | undefined): readonly RuleFinding[] {
  // What has a user in it may hold a secret, and is not repeated.
  if (brokers === undefined || brokers.length > 4_096 || /[@$]|\{\{/.test(brokers)) return []
  const entries = brokers.split(',')
  if (entries.length > MOST_ENTRIES) return []
  const read = entries.flatMap(entriesIn)
  const [worst] = read.filter(({ fault }) => fault !== undefined).toSorted(bySeverity)
  if (worst?.fault === undefined) return []
  const right = read
    .map((entry) => entry.right)
    .filter((entry) => entry !== '')
    .join(',')
  const place = {
    path: PATH,
    message: `${worst.fault.message}.`,
    hint: `Write ${right}.${read.some(({ isGuess }) => isGuess) ? ` If your port is not ${USUAL_PORT}, write yours.` : ''}`,
  }
  return [worst.fault.isSure ? ruleError('brokers-invalid', place) : ruleWarning('brokers-invalid', place)]
}

interface Entry {
  /** As it is to be written. */
  readonly right: string
  /** It had no port that can be one. */
  readonly isGuess: boolean
  readonly fault: { readonly isSure: boolean; readonly message: string } | undefined
}

function bySeverity(a: Entry, b: Entry): number {
  return Number(b.fault?.isSure ?? false) - Number(a.fault?.isSure ?? false)
}

/** Several where something other than a comma stands between them. */
function entriesIn(text: string): readonly Entry[] {
  const parts = text.trim().split(/[\s;]+/)
  const entries = parts.map(entryOf)
  if (parts.length === 1) return entries
  const message = `"${text.trim()}" is not one broker: a comma is missing`
  return entries.map((entry) => ({ ...entry, fault: { isSure: true, message } }))
}

function entryOf(text: string): Entry {
  const scheme = /^[A-Za-z][\w+.-]{0,30}:\/\//.exec(text)?.[0] ?? ''
  const address = text.slice(scheme.length).split('/', 1)[0] ?? ''
  // The ":" of an IPv6 address stand in brackets.
  const at = address.endsWith(']') ? -1 : address.lastIndexOf(':')
  const host = at === -1 ? address : address.slice(0, at)
  const port = at === -1 ? undefined : address.slice(at + 1)
  const isGuess = host !== '' && (port === undefined || !isPort(port))
  const right = isGuess ? `${host}:${USUAL_PORT}` : address
  return { right, isGuess, fault: faultOf(text, { scheme, address, host, port }) }
}

interface Parts {
  readonly scheme: string
  readonly address: string
  readonly host: string
  readonly port: string | undefined
}

/** The first that fits; what is surely wrong comes first. */
function faultOf(text: string, { scheme, address, host, port }: Parts): Entry['fault'] {
  const sure = (message: string) => ({ isSure: true, message: `The broker "${text}" ${message}` })
  const unsure = (message: string) => ({ isSure: false, message: `The broker "${text}" ${message}` })
  if (text === '') return { isSure: false, message: 'A comma of the brokers has nothing before or after it' }
  if (host === '') return sure('has no host')
  if (port !== undefined && !isPort(port)) return sure('has no port from 1 to 65535 after its ":"')
  if (text !== scheme + address) return sure('goes on after its port')
  if (scheme !== '') return unsure('begins with a scheme, and host:port is meant')
  return port === undefined ? unsure('has no port') : undefined
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535
}
