import { isIP } from 'node:net'
import type { Json } from '../../src/lib/json.ts'
import { textOf } from './look.ts'

/** A format of the facts, by the words with which they begin it. */
interface Format {
  readonly says: string
  readonly takes: (value: Json) => boolean
  /** What it does not take. */
  readonly wrong: Json
}

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const ALERT_ID = /^[0-9a-f]{24}$/i

const PEM = /^\s*-----BEGIN [A-Z0-9 ]+-----\r?\n[A-Za-z0-9+/=\r\n]+\r?\n-----END [A-Z0-9 ]+-----\s*$/
const HOST =
  /^(?=.{1,253}$)[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?)*\.?$/
const MINUTE = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[-+]\d\d:\d\d)$/
const RESERVED_ROLES = ['clickpipes', 'clickpipes_system']

export const FORMATS: readonly Format[] = [
  { says: 'PEM', takes: matches(PEM), wrong: '/etc/ssl/ca.pem' },
  {
    says: 'role ARN',
    takes: matches(/^arn:aws[-a-z]*:iam::\d{12}:role\/[-\w+=,.@/]+$/),
    wrong: 'clickpipes-role',
  },
  { says: 'base64 of the JSON key', takes: isKeyFile, wrong: '{}' },
  { says: 'base64 of 1 to', takes: matches(/^(?:[\w+/]{4})*(?:[\w+/]{2,3}={1,2})?$/), wrong: 'a b' },
  { says: 'UUIDs', takes: matches(UUID), wrong: ['endpoint-1'] },
  { says: '`host:port` list', takes: everyPart(isHostAndPort), wrong: 'b-1.example:9092,b-2.example:port' },
  { says: 'comma separated', takes: everyPart((part) => part !== ''), wrong: 'a,,b' },
  { says: '`https` only', takes: hasScheme('https:'), wrong: 'http://registry.example' },
  {
    says: 'URL with wildcards',
    takes: matches(/^(https|gs):\/\/[^/\s]+(\/\S*)?$/),
    wrong: 'ftp://files.example/*',
  },
  {
    says: 'SQS URL',
    takes: matches(
      /^https:\/\/[-.\w]+\/\d{12}\/[-\w]+(\.fifo)?$|^projects\/[^/\s]+\/subscriptions\/[^/\s]+$/,
    ),
    wrong: 'my-queue',
  },
  { says: '`YYYY-MM-DDThh:mm`', takes: isInstant(MINUTE, 'Z'), wrong: '2026-02-30T00:00' },
  { says: 'RFC 3339', takes: isInstant(RFC_3339, ''), wrong: '2026-01-31T08:00:00' },
  { says: 'Unix seconds', takes: (value) => Number(value) >= 0, wrong: -1 },
  { says: 'short name', takes: matches(/^[^/\s]+$/), wrong: 'projects/p/topics/t' },
  {
    says: 'host name or address',
    takes: (value) => HOST.test(textOf(value)) || isIP(textOf(value)) > 0,
    wrong: 'https://db.example',
  },
  { says: '`mongodb://`', takes: matches(/^mongodb(\+srv)?:\/\/[^\s/]+/), wrong: 'postgres://db.example' },
  { says: '`gs://bucket/path/`', takes: matches(/^gs:\/\/[^/\s]+\/(\S*\/)?$/), wrong: 'gs://bucket/file' },
  { says: '> 0', takes: (value) => Number(value) > 0, wrong: 0 },
  { says: 'role names', takes: (value) => !RESERVED_ROLES.includes(textOf(value)), wrong: ['clickpipes'] },
]

function matches(pattern: RegExp): Format['takes'] {
  return (value) => pattern.test(textOf(value))
}

function everyPart(isRight: (part: string) => boolean): Format['takes'] {
  return (value) =>
    textOf(value)
      .split(',')
      .every((part) => isRight(part.trim()))
}

function isHostAndPort(text: string): boolean {
  const [, host = '', port = ''] = /^(.*):(\d{1,5})$/.exec(text) ?? []
  const address = /^\[(.*)\]$/.exec(host)?.[1]
  return (
    (address === undefined ? HOST.test(host) : isIP(address) === 6) &&
    Number(port) >= 1 &&
    Number(port) <= 65_535
  )
}

function hasScheme(scheme: string): Format['takes'] {
  return (value) => URL.parse(textOf(value))?.protocol === scheme
}

/** A day that there is: what is read must be written as it was. */
function isInstant(pattern: RegExp, zone: string): Format['takes'] {
  return (value) => {
    const text = textOf(value)
    const date = new Date(`${text.slice(0, 10)}T00:00:00Z`)
    if (!pattern.test(text) || Number.isNaN(Date.parse(`${text}${zone}`))) return false
    return date.toISOString().startsWith(text.slice(0, 10))
  }
}

function isKeyFile(value: Json): boolean {
  const text = textOf(value)
  if (!/^[A-Za-z0-9+/]+=*$/.test(text)) return false
  try {
    return typeof JSON.parse(Buffer.from(text, 'base64').toString()) === 'object'
  } catch {
    return false
  }
}
