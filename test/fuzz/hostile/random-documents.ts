import type { Random } from '../../torture/random.ts'
import { ORGANIZATION } from '../../support/manifests.ts'
import { idOf } from './text.ts'

/** A document as data, before it is written in one style or another. */
type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value }

/** Documents of one structure, each by its number: the same structure at every size. */
export type Document = (n: number) => string

type Naming = (n: number) => string

/** A structure of documents. @param bytes of the whole part, which a single document may fill */
export function randomDocuments(random: Random, bytes: number): Document {
  const names = namingOf(random)
  const references = random.chance(0.5) ? names : namingOf(random)
  const distance = random.pick([0, 0, 1, 2, 50])
  const kinds = random.pick(MIXTURES)
  const details = Array.from({ length: 1 + random.below(4) }, () => random.pick(DETAILS))
  const widths = details.map(() =>
    Math.min(random.pick([1, 3, 30, 300, 3_000, 30_000]), Math.ceil(bytes / 40)),
  )
  const write = random.pick(STYLES)
  const isBroken = random.chance(0.15)
  return (n) => {
    const kind = kinds[n % kinds.length] ?? 'Pipe'
    const about = { kind, n, names, reference: references(n + distance) }
    const document = base(about)
    for (const [at, detail] of details.entries()) detail(document, { ...about, width: widths[at] ?? 1 })
    return write(document) + (isBroken ? BROKEN[n % BROKEN.length] : '')
  }
}

const MIXTURES: readonly (readonly string[])[] = [
  ['Pipe'],
  ['Pipe', 'Service'],
  ['Lock'],
  ['Pipe', 'Lock'],
  ['Pipe', 'Pipe', 'Pipe', 'QueryEndpoint', 'Alert', 'Service', 'Lock'],
  ['QueryEndpoint', 'Service'],
  ['Alert'],
  ['Pipes', 'service', 'Pip', 'alert'],
]

const BROKEN = ['', 'x: "a" b\n', '\tx: 1\n', 'x: [\n', 'a: b: c\n', 'x: *none\n', '}\n'] as const

/** How documents are called: alike, almost alike, long, or each in its own way. */
function namingOf(random: Random): Naming {
  const word = random.pick(['a', 'orders', 'customer-orders-by-region', 'Ä', 'service', 'true', '1'])
  const long = 'a'.repeat(random.pick([60, 64, 250, 1_000]))
  const few = random.pick([2, 7, 100])
  return random.pick<Naming>([
    () => word,
    (n) => `${word}-${n}`,
    (n) => `${word}-${n % few}`,
    (n) => `${n}${word}`,
    (n) => `${long}${n}`,
    (n) => swapped('customer-orders-by-region', n),
    (n) => String(Math.imul(n + 1, 0x9e3779b1) >>> 0).padStart(10, '0'),
  ])
}

/** A word with two neighbours in each other's place. */
function swapped(word: string, n: number): string {
  const at = n % (word.length - 1)
  return `${word.slice(0, at)}${word[at + 1] ?? ''}${word[at] ?? ''}${word.slice(at + 2)}${n % 3}`
}

interface About {
  readonly kind: string
  readonly n: number
  readonly names: Naming
  /** Whom it refers to. */
  readonly reference: string
}

interface Draft {
  apiVersion: Value
  kind: Value
  metadata: Record<string, Value>
  policy?: Record<string, Value>
  spec: Record<string, Value>
  [other: string]: Value | undefined
}

function base({ kind, n, names, reference }: About): Draft {
  return { apiVersion: 'pipewright/v1', kind, metadata: { name: names(n) }, spec: specOf(kind, n, reference) }
}

function specOf(kind: string, n: number, reference: string): Record<string, Value> {
  switch (kind) {
    case 'Service':
      return {
        organizationId: ORGANIZATION,
        serviceId: idOf(n % 9),
        credentials: { secretRef: { name: 'api' } },
      }
    case 'QueryEndpoint':
      return { service: reference, roles: ['sql_console_read_only'] }
    case 'Alert':
      return { id: `alert-${n}` }
    case 'Lock':
      return { pipes: { [`Pipe/${reference}`]: idOf(n) } }
    default:
      return { service: reference, source: { kafka: { brokers: 'b:9092', topics: 't' } } }
  }
}

/** Adds something to a document, of a width. */
type Detail = (document: Draft, about: About & { readonly width: number }) => void

function many<T>(width: number, item: (at: number) => T): T[] {
  return Array.from({ length: width }, (_, at) => item(at))
}

function mapping(width: number, name: (at: number) => string, value: (at: number) => Value) {
  return Object.fromEntries(many(width, (at) => [name(at), value(at)]))
}

function policy(document: Draft, more: Record<string, Value>): void {
  document.policy = { ...document.policy, ...more }
}

const DETAILS: readonly Detail[] = [
  () => undefined,
  (document, { n }) => policy(document, { adopt: idOf(n % 2) }),
  (document, { n }) => policy(document, { adopt: idOf(n) }),
  (document, { width, reference, n }) =>
    policy(document, { dependsOn: many(width, (at) => `Pipe/${at === 0 ? reference : `q${n + at}`}`) }),
  (document, { width, names, n }) =>
    policy(document, { dependsOn: many(width, (at) => `Pipe/${names(n + at * at)}`) }),
  (document, { width, names, n }) => policy(document, { dependsOn: many(width, () => `Pipe/${names(n)}`) }),
  (document, { reference }) => policy(document, { renamedFrom: `Pipe/${reference}` }),
  (document, { reference }) => policy(document, { replaces: `Pipe/${reference}` }),
  (document, { width }) => policy(document, { healthyStates: many(width, (at) => `Runing${at}`) }),
  (document, { width }) => policy(document, { interval: `${'9'.repeat(width)}m` }),
  (document, { width }) => {
    document.metadata['labels'] = mapping(
      width,
      (at) => `l${at}`,
      (at) => (at % 3 === 0 ? at : 'v'),
    )
  },
  (document, { width }) => {
    document.metadata['nmae'] = 'x'.repeat(width)
  },
  (document, { width }) => {
    Object.assign(
      document,
      mapping(
        width,
        (at) => `spce${at}`,
        (at) => at,
      ),
    )
  },
  (document, { width, reference, n }) => {
    document.spec['pipes'] = mapping(
      width,
      (at) => `Pipe/${reference}${at}`,
      (at) => idOf(at % 7 === 0 ? n : at),
    )
  },
  (document, { width, n }) => {
    document.spec['pipes'] = mapping(
      width,
      (at) => `Pipe/x${at}`,
      (at) => idOf(n + at),
    )
  },
  (document, { width }) => {
    const columns = many(width, (at) => ({ name: `column_number_${at % 1_000}`, type: 'Strnig(' }))
    document.spec['destination'] = { database: 'd', table: 't', columns }
    document.spec['fieldMappings'] = many(width, (at) => ({
      sourceField: 'f',
      destinationField: `colunm_number_${at}`,
    }))
  },
  (document, { width }) => {
    document.spec['roles'] = many(width, (at) => `sql_console_raed_${at % 5}`)
    document.spec['allowedOrigins'] = many(width, (at) => `http://a ${at}`).join(',')
  },
  (document, { width }) => {
    document.spec['source'] = {
      postgres: {
        tableMappings: many(width, (at) => ({ sourceTable: `t${at}`, excludedColumn: ['x'] })),
        credentials: { password: 'hunter2hunter2', username: '{secretRef: {name: a, key: b}}' },
      },
      kafka: { brokers: 'b-1,'.repeat(width) },
    }
  },
  (document, { width }) => {
    document.spec['expect'] = mapping(
      width,
      (at) => `f${at}`,
      (at) => (at % 2 === 0 ? { a: at } : '${NAME} {{ .x }}'),
    )
  },
  (document, { width }) => {
    document['x'] = nested(Math.min(width, 62))
  },
  (document, { width }) => {
    document['x'] = many(width, () => nested(5))
  },
  (document, { width }) => {
    document['x'] = 'a b\u200b\n'.repeat(width)
  },
  (document, { width }) => {
    document['x'] = many(width, (at) => (at % 2 === 0 ? `p\u0430ss${at}` : 'a:b@'.repeat(20)))
  },
  (document, { width }) => {
    document['password'] = `postgres://u:${'x'.repeat(width)}@h`
  },
]

function nested(depth: number): Value {
  let value: Value = 'password: x'
  for (let left = depth; left > 0; left -= 1) value = left % 2 === 0 ? [value] : { a: value }
  return value
}

const STYLES: readonly ((document: Draft) => string)[] = [
  block,
  block,
  (document) => `${JSON.stringify(document)}\n`,
  (document) => `${JSON.stringify(document, null, 2)}\n`,
  (document) => `${JSON.stringify(document, null, 1).replaceAll(/"([A-Za-z]\w*)"/g, '$1')}\n`,
  aliased,
]

/** With an anchor at the metadata, and aliases to it. */
function aliased(document: Draft): string {
  return block(document)
    .replace(/^metadata:/m, 'metadata: &m')
    .concat('more: [*m, *m, *m]\n')
}

function block(document: Draft): string {
  return Object.entries(document)
    .map(([name, value]) => (value === undefined ? '' : lines(name, value, '')))
    .join('')
}

/** Block style, texts of several lines as block scalars. */
function lines(name: string, value: Value, indent: string): string {
  const key = `${indent}${/^[A-Za-z][\w/.-]*$/.test(name) ? name : JSON.stringify(name)}:`
  const within = `${indent}  `
  if (typeof value === 'string' && value.includes('\n'))
    return `${key} |\n${within}${value.replaceAll('\n', `\n${within}`)}\n`
  if (Array.isArray(value))
    return `${key}\n${value.map((item) => `${within}- ${JSON.stringify(item)}\n`).join('')}`
  if (typeof value === 'object' && value !== null)
    return `${key}\n${Object.entries(value)
      .map(([inner, of]) => lines(inner, of, within))
      .join('')}`
  return `${key} ${typeof value === 'string' && /^[A-Za-z][\w/.-]*$/.test(value) ? value : JSON.stringify(value)}\n`
}
