import { head } from '../../support/manifests.ts'
import { documents, idOf, pipe, service, wide, type Shape } from './text.ts'

/* Catalogs that are slow by what their documents have to do with each other. */

const LONG = 'a'.repeat(200)

/** Locks, with an id for each pipe by its number. */
const locks =
  (name: string, id: (n: number) => number): Shape =>
  (bytes) =>
    wide(
      bytes,
      (n) => `${head('Lock', `${name}${n}`)}spec:\n  pipes:\n`,
      (n) => `    Pipe/p${n}: ${idOf(id(n))}\n`,
    )

/** Two halves, one beside the other. */
const both =
  (...shapes: readonly Shape[]): Shape =>
  (bytes) => {
    const files = new Map<string, string>()
    for (const [index, shape] of shapes.entries())
      for (const [name, text] of shape(bytes / shapes.length)) files.set(`s${index}-${name}`, text)
    return files
  }

/** Services and pipes, the same number of each, that have nothing to do with each other. */
function strangers(name: (n: number) => string): Shape {
  return (bytes) => documents(bytes, (n) => (n % 2 === 0 ? service(name(n)) : pipe(`p${n}`, `${name(n)}x`)))
}

/** Documents beside the service that they mean. */
const besideService =
  (document: (n: number) => string): Shape =>
  (bytes) =>
    documents(bytes, document, [service('analytics')])

/** Pipes of one service, each with the policy of its number. */
const pipes = (policy: (n: number) => string): Shape =>
  besideService((n) => pipe(`p${n}`, 'analytics', { policy: `{${policy(n)}}` }))

/** Pipes of one name in one service. */
const namesakes = (policy: (n: number) => string): Shape =>
  besideService((n) =>
    pipe(`p${n}`, 'analytics', { spec: '  name: orders\n', policy: `{replaces: Pipe/${policy(n)}}` }),
  )

export const MANY_DOCUMENTS = {
  'one key': besideService(() => pipe('a', 'analytics')),
  'one key, small': (bytes) => documents(bytes, () => 'kind: Pipe\nmetadata: {name: a}\n'),
  'one key, in files of their own': (bytes) => {
    const files = new Map<string, string>()
    const text = pipe('a', 'analytics')
    for (let n = 0; n * text.length < bytes; n += 1) files.set(`d${n % 50}/f${n}.yaml`, text)
    return files
  },
  'a Lock with one id': locks('l', () => 1),
  'a Lock with many ids': locks('l', (n) => n),
  'a Lock with few ids': locks('l', (n) => n % 50),
  'Locks that disagree': both(
    locks('l', (n) => n),
    locks('m', (n) => n + 1),
  ),
  'many Locks with one key': (bytes) =>
    documents(bytes, (n) => `${head('Lock', `l${n}`)}spec: {pipes: {Pipe/a: ${idOf(n)}}}\n`),
  'a Lock with one id, and its pipes': both(
    locks('l', () => 1),
    besideService((n) => pipe(`p${n}`, 'analytics')),
  ),
  'unknown services': strangers((n) => `service-number-${n}`),
  'unknown services, long names': strangers((n) => `${LONG}${n}`),
  'unknown services, one name': (bytes) => documents(bytes, (n) => pipe(`p${n}`, 'nobody')),
  'unknown dependencies': pipes((n) => `dependsOn: [Pipe/q${n}, Pipe/${n}p, Alert/p${n}]`),
  'unknown dependencies, long names': besideService((n) =>
    pipe(`${LONG}${n}`, 'analytics', { policy: `{dependsOn: [Pipe/${LONG}x${n}]}` }),
  ),
  'unknown dependencies, unknown kinds': pipes((n) => `dependsOn: [Pip/q${n}, Alerts/${n}p]`),
  'fifty dependencies each': pipes(
    (n) => `dependsOn: [${Array.from({ length: 50 }, (_, at) => `Pipe/p${n + at + 1}`).join(', ')}]`,
  ),
  'one long circle': (bytes) => {
    const one = pipe('p1000', 'analytics', { policy: '{dependsOn: [Pipe/p1000]}' })
    const count = Math.ceil(bytes / one.length)
    return pipes((n) => `dependsOn: [Pipe/p${(n + 1) % count}]`)(bytes)
  },
  'many circles, one long chain': pipes((n) => `dependsOn: [Pipe/p${n + 1}, Pipe/p${Math.max(0, n - 1)}]`),
  'circles within circles': pipes((n) => `dependsOn: [Pipe/p${n + 1}, Pipe/p${n >> 1}, Pipe/p0]`),
  'one id adopted': pipes(() => `adopt: ${idOf(1)}`),
  'endpoints of one service': besideService(
    (n) => `${head('QueryEndpoint', `e${n}`)}spec: {service: analytics, roles: [r]}\n`,
  ),
  'one name in one service': besideService((n) => pipe(`p${n}`, 'analytics', { spec: '  name: orders\n' })),
  'one name, each replaces the one before': namesakes((n) => `p${n + 1}`),
  'one name, all replace one': namesakes(() => 'p0'),
  'Services that mean one service': (bytes) =>
    documents(bytes, (n) =>
      n % 2 === 0
        ? service(`s${n}`)
        : `${head('QueryEndpoint', `e${n}`)}spec: {service: s${n - 1}, roles: [r]}\n`,
    ),
  'secrets of the platform': besideService(
    (n) =>
      `${head('Pipe', `p${n}`)}spec:\n  service: analytics\n  source: {kafka: {brokers: "b:9092", credentials: {username: {secretRef: {name: api, key: a}}, password: {secretRef: {name: api, key: b}}}}}\n`,
  ),
} as const satisfies Readonly<Record<string, Shape>>
