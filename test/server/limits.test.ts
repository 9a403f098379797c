import { describe, expect, it } from 'vitest'
import type { ResourceView, StatusBoard } from '../../src/contract/view.ts'
import { conditionEntry } from '../support/events.ts'
import { fakeParts, finding, NOW, overview, resource } from './fake-parts.ts'
import { ask, running } from './running.ts'

/** Nobody's request costs more than a bounded amount of work (design law 9, SECURITY.md). */

const MANY = 1_001

const KEYS = Array.from({ length: MANY }, (_, index) => `Pipe/p${String(index).padStart(5, '0')}` as const)

const RESOURCES = KEYS.map((key, index) => resource(key, { labels: { team: `t${index % 7}` } }))

/** A board that counts how often a resource is looked at as one of a list. */
function countingBoard(resources: readonly ResourceView[]) {
  let reads = 0
  const list = resources.map((one): ResourceView => ({
    ...one,
    get key() {
      reads += 1
      return one.key
    },
    get kind() {
      reads += 1
      return one.kind
    },
    get status() {
      reads += 1
      return one.status
    },
  }))
  const byKey = new Map(resources.map((one) => [one.key, one]))
  const board: StatusBoard = { get: (key) => byKey.get(key), list: () => list }
  return { board, reads: () => reads }
}

const words = (count: number, word = 'p') => Array.from({ length: count }, () => word).join('+')
const repeated = (name: string, count: number, value = 'a') =>
  Array.from({ length: count }, () => `${name}=${value}`).join('&')

describe('a question that is too large', () => {
  const LISTS = ['resources', 'attention', 'findings', 'timeline'] as const
  const REFUSED: readonly (readonly [string, string, string])[] = [
    ['of 7,500 words', `q=${words(7_500)}`, 'at most 16 words of 100 letters'],
    ['of 17 words', `q=${words(17)}`, 'at most 16 words of 100 letters'],
    ['of a word of 101 letters', `q=${'x'.repeat(101)}`, 'at most 16 words of 100 letters'],
    ['of a thousand labels', repeated('label', 1_000), 'at most 16'],
    ['of a thousand services', repeated('service', 1_000), 'at most 100'],
    ['of a thousand services with commas', `service=${'a,'.repeat(1_000)}`, 'at most 100'],
    ['of a thousand kinds', repeated('kind', 1_000, 'Pipe'), 'at most 100'],
    ['of a thousand statuses', `status=${'Ready,'.repeat(1_000)}`, 'at most 100'],
    ['of a thousand reasons', repeated('reason', 1_000, 'InSync'), 'at most 100'],
    ['of a service of 600 letters', `service=${'a'.repeat(600)}`, 'at most 500 letters'],
    ['of a label of 600 letters', `label=${'a'.repeat(600)}`, 'at most 500 letters'],
    ['of a file of 5,000 letters', `file=${'a'.repeat(5_000)}`, 'at most 4096 letters'],
  ]

  it('is refused in plain words before anything is looked at', async () => {
    const counted = countingBoard(RESOURCES.slice(0, 100))
    const { url } = await running(fakeParts({ board: counted.board }))
    for (const [what, query, hint] of REFUSED)
      for (const list of LISTS) {
        const { status, body } = await ask(`${url}/api/v1/${list}?${query}`)
        const row = `${list} ${what}`
        expect.soft(status, row).toBe(400)
        expect.soft(body['hint'], row).toContain(hint)
        expect.soft(JSON.stringify(body).length, row).toBeLessThan(1_000)
      }
    expect(counted.reads()).toBe(0)
  })

  it('of exactly as many words as there may be is answered', async () => {
    const { url } = await running(fakeParts({}, RESOURCES.slice(0, 3)))
    const long = 'pipe/p00001'.padEnd(100, 'x')
    expect((await ask(`${url}/api/v1/resources?q=${words(16)}`)).body['total']).toBe(3)
    expect((await ask(`${url}/api/v1/resources?q=${words(16, long)}`)).body['total']).toBe(0)
  })
})

type Page = { readonly items: readonly unknown[]; readonly next?: string; readonly total?: number }

/** All pages, by their `next`. */
async function pagesOf(url: string): Promise<readonly Page[]> {
  const pages: Page[] = []
  for (let at: string | undefined = url; at !== undefined;) {
    const { status, body } = await ask(at)
    expect(status).toBe(200)
    const page = body as unknown as Page // of a list
    pages.push(page)
    at = page.next === undefined ? undefined : new URL(page.next, at).href
  }
  return pages
}

describe('a long list', () => {
  const findings = KEYS.map((key) => finding({ key }))
  const history = KEYS.map((key, index) => {
    const at = NOW - index * 120_000
    return conditionEntry({ key, at, revision: `r${at}` })
  })
  const unwell = KEYS.map((key, index) =>
    resource(key, { status: 'Drifted', reason: 'Drifted', service: `s${index}` }),
  )
  const parts = () => fakeParts({ overview: () => overview({ findings }) }, unwell, history)

  it.each([
    ['resources', MANY],
    ['resources?sort=since', MANY],
    ['resources?sort=status&order=desc', MANY],
    ['resources?q=p0&limit=499', MANY],
    ['attention?limit=500', MANY],
    ['findings?limit=500', MANY],
    ['history?limit=500', MANY],
    ['timeline?limit=500', 2 * MANY],
  ])('%s comes in pages of 500 at most, each of them once', async (path, count) => {
    const { url } = await running(parts())
    const pages = await pagesOf(`${url}/api/v1/${path}`)
    expect(pages.length).toBeGreaterThan(1)
    expect(Math.max(...pages.map(({ items }) => items.length))).toBeLessThanOrEqual(500)
    const items = pages.flatMap((page) => page.items.map((item) => JSON.stringify(item)))
    expect([items.length, new Set(items).size]).toEqual([count, count])
  })

  it.each(['resources', 'attention', 'findings', 'history', 'timeline'])(
    '%s gives no page of 501, and says so',
    async (path) => {
      const { url } = await running(fakeParts())
      const { status, body } = await ask(`${url}/api/v1/${path}?limit=501`)
      expect([status, body['hint']]).toEqual([400, expect.stringContaining('to 500')])
    },
  )

  it('goes on behind a resource, whatever came and went before it', async () => {
    const { url } = await running(fakeParts({}, RESOURCES))
    const { next } = (await ask(`${url}/api/v1/resources?kind=Pipe`)).body
    expect(next).toBe('?kind=Pipe&after=Pipe%2Fp00499')
    const { body } = await ask(`${url}/api/v1/resources?after=Pipe/p00499x&limit=1`)
    expect(body['items']).toMatchObject([{ key: 'Pipe/p00500' }])
    const refused = await ask(`${url}/api/v1/resources?after=Pipe/a&sort=since`)
    expect([refused.status, refused.body['hint']]).toEqual([400, expect.stringContaining('offset')])
  })
})
