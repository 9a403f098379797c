import { masked } from '../support/masked.ts'
import { createServer } from 'node:net'
import type { Event } from '../../src/contract/events.ts'
import { describe, expect, it } from 'vitest'
import { startServer } from '../../src/server/server.ts'
import { conditionEntry } from '../support/events.ts'
import { condition, conditions, fakeParts, finding, NOW, overview, resource, REVISION } from './fake-parts.ts'
import { ask, running } from './running.ts'
import { listenHere } from '../support/listen-here.ts'

const RESOURCES = [
  resource('Alert/lag', { status: 'NotReady', reason: 'UnhealthyState', message: 'its state is ALERT' }),
  resource('Pipe/clicks', { status: 'Drifted', reason: 'Drifted', labels: { team: 'web' } }),
  resource('Pipe/orders', { observed: { name: 'orders', state: 'Running' }, state: masked('Running') }),
  resource('Pipe/users', {
    status: 'Missing',
    reason: 'Missing',
    conditions: conditions({ Synced: condition('False', { reason: 'Missing', since: NOW }) }),
  }),
  resource('Service/analytics'),
]

const fail = (): never => {
  throw new Error('x')
}
const bad = (detail: string) => ({ ok: false, detail })

describe('/metrics and the probes', () => {
  it('gives the scrape as it is, with its content type', async () => {
    const { url } = await running(fakeParts())
    const reply = await fetch(`${url}/metrics`)
    expect(reply.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(await reply.text()).toBe('a_metric 1\n')
  })

  const PROBES: readonly (readonly [string, string, Parameters<typeof fakeParts>[0], number, object])[] = [
    ['healthy', '/healthz', {}, 200, { ok: true, detail: 'the queue moves' }],
    ['stuck', '/healthz', { health: () => bad('stuck') }, 503, bad('stuck')],
    ['ready', '/readyz', {}, 200, { ok: true, detail: 'ready' }],
    ['not ready', '/readyz', { ready: () => bad('no ledger') }, 503, bad('no ledger')],
    ['a check that throws', '/readyz', { ready: fail }, 503, bad('the check itself failed')],
  ]

  it.each(PROBES)('%s: %s', async (_, path, over, status, body) => {
    const { url } = await running(fakeParts(over))
    expect(await ask(url + path)).toMatchObject({ status, body })
  })
})

describe('/api/v1/resources', () => {
  const FILTERS: readonly (readonly [string, string, readonly string[]])[] = [
    [
      'all, in the order of their keys',
      '',
      ['Alert/lag', 'Pipe/clicks', 'Pipe/orders', 'Pipe/users', 'Service/analytics'],
    ],
    ['of one kind', '?kind=Alert', ['Alert/lag']],
    ['of several kinds', '?kind=Alert,Service', ['Alert/lag', 'Service/analytics']],
    ['of one status', '?status=Drifted', ['Pipe/clicks']],
    ['of kind and status', '?kind=Pipe&status=Ready', ['Pipe/orders']],
    ['with a text, whatever its case', '?q=ORDERS', ['Pipe/orders']],
    ['with a label', '?q=team%3Dweb', ['Pipe/clicks']],
    ['with a text of the message', '?q=state%20is', ['Alert/lag']],
    ['not well, worst first', '?well=false&sort=status', ['Pipe/users', 'Pipe/clicks', 'Alert/lag']],
    ['a part of them', '?offset=1&limit=2', ['Pipe/clicks', 'Pipe/orders']],
    ['none', '?q=nothing', []],
    ['with several words, in any order', '?q=web%20drifted', ['Pipe/clicks']],
    ['with a label and its value', '?label=team%3Dweb', ['Pipe/clicks']],
    ['with a label, whatever its value', '?label=team', ['Pipe/clicks']],
    ['with all of several labels', '?label=team%3Dweb&label=tier', []],
    ['of a service', '?service=analytics&kind=Service', ['Service/analytics']],
    ['of several services', '?service=none,analytics&kind=Alert', ['Alert/lag']],
    ['of no service', '?service=other', []],
    ['in a folder', '?file=pipes&kind=Alert', ['Alert/lag']],
    ['in a file', '?file=pipes/orders.yaml', ['Pipe/orders']],
    ['not in a file that only begins alike', '?file=pipes/orders', []],
    ['of a reason', '?reason=Missing,Drifted', ['Pipe/clicks', 'Pipe/users']],
    ['the other way round', '?kind=Pipe&order=desc', ['Pipe/users', 'Pipe/orders', 'Pipe/clicks']],
    ['by file', '?kind=Pipe,Alert&sort=file', ['Pipe/clicks', 'Alert/lag', 'Pipe/orders', 'Pipe/users']],
    ['by reason', '?kind=Pipe&sort=reason', ['Pipe/clicks', 'Pipe/orders', 'Pipe/users']],
    ['by state, those without one last', '?kind=Pipe&sort=state&limit=1', ['Pipe/orders']],
    ['by last change', '?kind=Pipe&sort=since&limit=1', ['Pipe/users']],
    ['by kind', '?sort=kind&limit=2', ['Service/analytics', 'Pipe/clicks']],
  ]

  it('gives those that a question asks for, in its order', async () => {
    const { url } = await running(fakeParts({}, RESOURCES))
    for (const [what, query, keys] of FILTERS) {
      const { status, body } = await ask(`${url}/api/v1/resources${query}`)
      expect.soft(status, what).toBe(200)
      expect
        .soft(
          (body['items'] as { key: string }[]).map(({ key }) => key),
          what,
        )
        .toEqual(keys) // of resources
      expect
        .soft(body['counts'], what)
        .toMatchObject({ Ready: 2, Missing: 1, Drifted: 1, NotReady: 1, Invalid: 0 })
    }
  })

  it('says how many match, and leaves the bodies out', async () => {
    const { url } = await running(fakeParts({}, RESOURCES))
    const { body } = await ask(`${url}/api/v1/resources?kind=Pipe&limit=1`)
    expect(body['total']).toBe(3)
    expect(body['overview']).toMatchObject({ revision: { id: REVISION } })
    expect(JSON.stringify(body['items'])).not.toContain('"desired"')
  })

  const REFUSED: readonly (readonly [string, string, string])[] = [
    ['an unknown kind, with the nearest', '?kind=pipes', 'Did you mean "Pipe"?'],
    ['an unknown status, with all', '?status=zzzzzzzz', 'It is one of OutcomeUnknown, '],
    ['a limit that is no number', '?limit=many', 'Give a whole number from 0'],
    ['a text twice', '?q=a&q=b', 'Use it once.'],
    ['an order by what there is not', '?sort=names', 'It is one of key, status,'],
    ['an unknown reason, with the nearest', '?reason=drifted', 'Did you mean "Drifted"?'],
  ]

  it.each(REFUSED)('refuses %s', async (_, query, hint) => {
    const { url } = await running(fakeParts({}, RESOURCES))
    const { status, body } = await ask(`${url}/api/v1/resources${query}`)
    expect(status).toBe(400)
    expect(body['hint']).toContain(hint)
  })

  it('gives one resource with its body, its fields side by side, its states, findings and next steps', async () => {
    const orders = finding({ key: 'Pipe/orders' })
    const parts = fakeParts(
      { overview: () => overview({ findings: [orders, finding()] }), desired: () => ({ name: 'orders' }) },
      RESOURCES,
    )
    parts.tell({ type: 'Observed', key: 'Pipe/orders', state: masked('Running'), differences: [] })
    const { url } = await running(parts)
    const { status, body } = await ask(`${url}/api/v1/resources/Pipe/orders`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      key: 'Pipe/orders',
      observed: { state: 'Running' },
      since: NOW - 60_000,
      next: [],
      fields: [
        { field: 'name', desired: 'orders', observed: 'orders', verdict: 'same' },
        { field: 'state', observed: 'Running', verdict: 'not-asked-for' },
      ],
      states: [{ state: 'Running', from: NOW, until: NOW }],
      findings: [{ key: 'Pipe/orders' }],
    })
    expect((await ask(`${url}/api/v1/resources/Pipe/users`)).body).toMatchObject({
      since: NOW,
      next: [{ copy: 'onMissing: recreate' }, { copy: 'pipewright forget Pipe/users' }],
    })
  })

  it('names the nearest of one that is not there', async () => {
    const { url } = await running(fakeParts({}, RESOURCES))
    const { status, body } = await ask(`${url}/api/v1/resources/Pipe/order`)
    expect([status, body['hint']]).toEqual([404, 'Did you mean "Pipe/orders"?'])
  })
})

describe('/api/v1/overview', () => {
  it('says whether all is well', async () => {
    const parts = fakeParts({ overview: () => overview({ findings: [finding()] }) }, RESOURCES)
    const { url } = await running(parts)
    const { body } = await ask(`${url}/api/v1/overview`)
    expect(body).toMatchObject({
      version: '0.1.0',
      verdict: { level: 'unwell', sentence: '3 of 5 resources need attention. 1 error in manifests.' },
      ready: { ok: true },
      counts: { Ready: 2, Drifted: 1 },
      findingCounts: { error: 1, warning: 0 },
      missedChanges: 0,
    })
  })

  it('names a hundred findings at most, errors first; the others are asked for', async () => {
    const warnings = Array.from({ length: 150 }, () => finding({ severity: 'warning' }))
    const findings = [...warnings, finding({ key: 'Pipe/orders' })]
    const { url } = await running(fakeParts({ overview: () => overview({ findings }) }))
    const { body } = await ask(`${url}/api/v1/overview`)
    expect(body['findings']).toHaveLength(100)
    expect(body['findingCounts']).toEqual({ error: 1, warning: 150 })
    expect(JSON.stringify(body['findings'])).toMatch(/^\[\{[^}]*"severity":"error"/)
    const counted = async (query: string) => {
      const reply = await ask(`${url}/api/v1/findings${query}`)
      return [(reply.body['items'] as readonly unknown[]).length, reply.body['total']] // a list
    }
    expect(await counted('')).toEqual([100, 151])
    expect(await counted('?offset=100&limit=500')).toEqual([51, 151])
    expect(await counted('?severity=error')).toEqual([1, 1])
    expect(await counted('?key=Pipe/orders')).toEqual([1, 1])
    expect((await ask(`${url}/api/v1/findings?severity=bad`)).status).toBe(400)
  })
})

async function facetsAt(url: string): Promise<Readonly<Record<string, unknown>>> {
  const { whole } = (await ask(`${url}/api/v1/page`)).body
  return (whole as { readonly facets: Readonly<Record<string, unknown>> }).facets // of our API
}

describe('/api/v1/page', () => {
  it('is what each of its lists is alone, narrowed alike', async () => {
    const { url } = await running(fakeParts({}, RESOURCES))
    const at = async (path: string) => (await ask(`${url}/api/v1/${path}`)).body
    const { whole } = await at('page?status=Drifted&sort=status&limit=50&story=action&entries=8&severity=x')
    const { counts: _, overview: __, ...list } = await at('resources?status=Drifted&sort=status&limit=50')
    expect(list['total']).toBe(1)
    expect(whole).toMatchObject({
      list,
      attention: await at('attention?status=Drifted&limit=30'),
      findings: await at('findings?status=Drifted'),
      timeline: await at('timeline?status=Drifted&type=action&limit=8'),
    })
  })

  it('is one resource and its history, if one is named', async () => {
    const { url } = await running(fakeParts({}, RESOURCES))
    const { body } = await ask(`${url}/api/v1/page?resource=Pipe/orders`)
    expect(body).not.toHaveProperty('whole')
    const alone = (await ask(`${url}/api/v1/resources/Pipe/orders`)).body
    expect(body['one']).toEqual({ resource: alone, history: { items: [] } })
  })

  it.each([
    ['kind=Pip', 'kind "Pip" is not known', 'Did you mean "Pipe"?'],
    ['resource=Pipe/order', 'there is no resource "Pipe/order"', 'Did you mean "Pipe/orders"?'],
  ])('has the overview alone, and says why: %s', async (query, error, hint) => {
    const { url } = await running(fakeParts({}, RESOURCES))
    const { status, body } = await ask(`${url}/api/v1/page?${query}`)
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['overview', 'refused'])
    expect(body['refused']).toEqual({ error, hint })
    expect(body['overview']).toMatchObject({ counts: { Ready: 2 } })
  })

  it('counts what resources can be filtered by', async () => {
    const { url } = await running(fakeParts({}, RESOURCES))
    expect(await facetsAt(url)).toEqual({
      kinds: [
        { value: 'Alert', count: 1 },
        { value: 'Pipe', count: 3 },
        { value: 'Service', count: 1 },
      ],
      services: [{ value: 'analytics', count: 5 }],
      labels: [{ value: 'team=web', count: 1 }],
      files: [
        { value: 'pipes', count: 5 },
        ...['analytics', 'clicks', 'lag', 'orders', 'users'].map((name) => ({
          value: `pipes/${name}.yaml`,
          count: 1,
        })),
      ],
      reasons: [
        { value: 'Drifted', count: 1 },
        { value: 'InSync', count: 2 },
        { value: 'Missing', count: 1 },
        { value: 'UnhealthyState', count: 1 },
      ],
    })
  })

  it('gives the most frequent when there are too many', async () => {
    const many = Array.from({ length: 900 }, (_, index) =>
      resource(`Pipe/p${index}`, { service: `s${index}` }),
    )
    const { url } = await running(fakeParts({}, [...many, resource('Pipe/z', { service: 's899' })]))
    const { services } = await facetsAt(url)
    expect(services).toHaveLength(200)
    expect(services).toContainEqual({ value: 's899', count: 2 })
  })
})

function brokenHistory(): Promise<never> {
  return Promise.reject(new Error('disk I/O error at /somewhere'))
}

describe('/api/v1/history', () => {
  const ENTRIES = (['Pipe/orders', 'Pipe/clicks'] as const).map((key) => conditionEntry({ key }))

  it('gives all, or those of a key', async () => {
    const { url } = await running(fakeParts({}, [], ENTRIES))
    expect((await ask(`${url}/api/v1/history`)).body['items']).toHaveLength(2)
    expect((await ask(`${url}/api/v1/history?limit=1`)).body['items']).toHaveLength(1)
    const { body } = await ask(`${url}/api/v1/history?key=Pipe/clicks`)
    expect(body['items']).toMatchObject([{ key: 'Pipe/clicks' }])
  })

  it.each(['?key=orders', '?limit=0', '?limit=10001'])('refuses %s', async (query) => {
    const { url } = await running(fakeParts())
    expect((await ask(`${url}/api/v1/history${query}`)).status).toBe(400)
  })

  it('tells only the log what went wrong inside', async () => {
    const events: Event[] = []
    const emit = (event: Event) => void events.push(event)
    const { url } = await running(fakeParts({ history: brokenHistory, emit }))
    const { status, body } = await ask(`${url}/api/v1/history`)
    expect(status).toBe(500)
    expect(Object.keys(body)).toEqual(['error', 'hint'])
    expect(JSON.stringify(body)).not.toContain('somewhere')
    const message = 'GET /api/v1/history could not be answered'
    expect(events).toMatchObject([
      { type: 'Bug', message, error: { message: 'disk I/O error at /somewhere' } },
    ])
  })
})

describe('everything', () => {
  it.each(['/', '/api/v1/overview', '/nothing', '/metrics'])(
    '%s carries the headers that protect',
    async (path) => {
      const { url } = await running(fakeParts())
      const { headers } = await fetch(url + path)
      expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cache-control')).toMatch(/no-store|no-cache/)
    },
  )

  it('answers JSON with a hint where there is nothing', async () => {
    const { url } = await running(fakeParts())
    const { status, body } = await ask(`${url}/api/v2/x?token=abc`)
    expect(status).toBe(404)
    expect(body['error']).toBe('there is nothing at GET /api/v2/x')
    expect(body['hint']).toContain('/api/v1/resources')
    const odd = await ask(`${url}/api/v1/resources/Pipe/%E0%A4%A`)
    expect([odd.status, Object.keys(odd.body)]).toEqual([400, ['error', 'hint']])
  })

  it('says which port cannot be had', async () => {
    const other = createServer()
    const port = await listenHere(other)
    try {
      const start = startServer(fakeParts({ listen: { host: '127.0.0.1', port } }))
      await expect(start).rejects.toThrow(
        new RegExp(`cannot listen on 127.0.0.1:${port}: .*EADDRINUSE.*--listen`),
      )
    } finally {
      other.close()
    }
  })
})
