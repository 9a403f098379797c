import { documents, head, idOf, pipe, service, wide, type Files, type Shape } from './text.ts'

/* Catalogs that are slow by what their documents have to do with each other. */

const LONG = 'a'.repeat(200)

const lock = (name: string) => `${head('Lock', name)}spec:\n  pipes:\n`
const lockEntry = (n: number, id: string) => `    Pipe/p${n}: ${id}\n`

/** Two halves, one beside the other. */
function both(bytes: number, ...shapes: readonly Shape[]): Files {
  const files = new Map<string, string>()
  for (const [index, shape] of shapes.entries())
    for (const [name, text] of shape(bytes / shapes.length)) files.set(`s${index}-${name}`, text)
  return files
}

/** Services and pipes, the same number of each, that have nothing to do with each other. */
function strangers(name: (n: number) => string): Shape {
  return (bytes) => documents(bytes, (n) => (n % 2 === 0 ? service(name(n)) : pipe(`p${n}`, `${name(n)}x`)))
}

export const MANY_DOCUMENTS = {
  'one key': (bytes) => documents(bytes, () => pipe('a', 'analytics'), [service('analytics')]),
  'one key, small': (bytes) => documents(bytes, () => 'kind: Pipe\nmetadata: {name: a}\n'),
  'one key, in files of their own': (bytes) => {
    const files = new Map<string, string>()
    const text = pipe('a', 'analytics')
    for (let n = 0; n * text.length < bytes; n += 1) files.set(`d${n % 50}/f${n}.yaml`, text)
    return files
  },
  'a Lock with one id': (bytes) =>
    wide(
      bytes,
      (n) => lock(`l${n}`),
      (n) => lockEntry(n, idOf(1)),
    ),
  'a Lock with many ids': (bytes) =>
    wide(
      bytes,
      (n) => lock(`l${n}`),
      (n) => lockEntry(n, idOf(n)),
    ),
  'a Lock with few ids': (bytes) =>
    wide(
      bytes,
      (n) => lock(`l${n}`),
      (n) => lockEntry(n, idOf(n % 50)),
    ),
  'Locks that disagree': (bytes) =>
    both(
      bytes,
      (half) =>
        wide(
          half,
          (n) => lock(`l${n}`),
          (n) => lockEntry(n, idOf(n)),
        ),
      (half) =>
        wide(
          half,
          (n) => lock(`m${n}`),
          (n) => lockEntry(n, idOf(n + 1)),
        ),
    ),
  'many Locks with one key': (bytes) =>
    documents(bytes, (n) => `${head('Lock', `l${n}`)}spec: {pipes: {Pipe/a: ${idOf(n)}}}\n`),
  'a Lock with one id, and its pipes': (bytes) =>
    both(
      bytes,
      (half) =>
        wide(
          half,
          (n) => lock(`l${n}`),
          (n) => lockEntry(n, idOf(1)),
        ),
      (half) => documents(half, (n) => pipe(`p${n}`, 'analytics'), [service('analytics')]),
    ),
  'unknown services': strangers((n) => `service-number-${n}`),
  'unknown services, long names': strangers((n) => `${LONG}${n}`),
  'unknown services, one name': (bytes) => documents(bytes, (n) => pipe(`p${n}`, 'nobody')),
  'unknown dependencies': (bytes) =>
    documents(
      bytes,
      (n) => pipe(`p${n}`, 'analytics', { policy: `{dependsOn: [Pipe/q${n}, Pipe/${n}p, Alert/p${n}]}` }),
      [service('analytics')],
    ),
  'unknown dependencies, long names': (bytes) =>
    documents(
      bytes,
      (n) => pipe(`${LONG}${n}`, 'analytics', { policy: `{dependsOn: [Pipe/${LONG}x${n}]}` }),
      [service('analytics')],
    ),
  'unknown dependencies, unknown kinds': (bytes) =>
    documents(
      bytes,
      (n) => pipe(`p${n}`, 'analytics', { policy: `{dependsOn: [Pip/q${n}, Alerts/${n}p]}` }),
      [service('analytics')],
    ),
  'fifty dependencies each': (bytes) =>
    documents(
      bytes,
      (n) =>
        pipe(`p${n}`, 'analytics', {
          policy: `{dependsOn: [${Array.from({ length: 50 }, (_, at) => `Pipe/p${n + at + 1}`).join(', ')}]}`,
        }),
      [service('analytics')],
    ),
  'one long circle': (bytes) => {
    const count = Math.ceil(
      bytes / pipe('p1000', 'analytics', { policy: '{dependsOn: [Pipe/p1000]}' }).length,
    )
    const next = (n: number) => `{dependsOn: [Pipe/p${(n + 1) % count}]}`
    return documents(bytes, (n) => pipe(`p${n}`, 'analytics', { policy: next(n) }), [service('analytics')])
  },
  'many circles, one long chain': (bytes) => {
    return documents(
      bytes,
      (n) =>
        pipe(`p${n}`, 'analytics', { policy: `{dependsOn: [Pipe/p${n + 1}, Pipe/p${Math.max(0, n - 1)}]}` }),
      [service('analytics')],
    )
  },
  'circles within circles': (bytes) => {
    return documents(
      bytes,
      (n) =>
        pipe(`p${n}`, 'analytics', { policy: `{dependsOn: [Pipe/p${n + 1}, Pipe/p${n >> 1}, Pipe/p0]}` }),
      [service('analytics')],
    )
  },
  'one id adopted': (bytes) =>
    documents(bytes, (n) => pipe(`p${n}`, 'analytics', { policy: `{adopt: ${idOf(1)}}` }), [
      service('analytics'),
    ]),
  'endpoints of one service': (bytes) =>
    documents(bytes, (n) => `${head('QueryEndpoint', `e${n}`)}spec: {service: analytics, roles: [r]}\n`, [
      service('analytics'),
    ]),
  'one name in one service': (bytes) =>
    documents(bytes, (n) => pipe(`p${n}`, 'analytics', { spec: '  name: orders\n' }), [service('analytics')]),
  'one name, each replaces the one before': (bytes) =>
    documents(
      bytes,
      (n) => pipe(`p${n}`, 'analytics', { spec: '  name: orders\n', policy: `{replaces: Pipe/p${n + 1}}` }),
      [service('analytics')],
    ),
  'one name, all replace one': (bytes) =>
    documents(
      bytes,
      (n) => pipe(`p${n}`, 'analytics', { spec: '  name: orders\n', policy: '{replaces: Pipe/p0}' }),
      [service('analytics')],
    ),
  'Services that mean one service': (bytes) =>
    documents(bytes, (n) =>
      n % 2 === 0
        ? service(`s${n}`)
        : `${head('QueryEndpoint', `e${n}`)}spec: {service: s${n - 1}, roles: [r]}\n`,
    ),
  'secrets of the platform': (bytes) =>
    documents(
      bytes,
      (n) =>
        `${head('Pipe', `p${n}`)}spec:\n  service: analytics\n  source: {kafka: {brokers: "b:9092", credentials: {username: {secretRef: {name: api, key: a}}, password: {secretRef: {name: api, key: b}}}}}\n`,
      [service('analytics')],
    ),
} as const satisfies Readonly<Record<string, Shape>>
