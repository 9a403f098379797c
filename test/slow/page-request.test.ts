import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { fakeParts, resource, type Over } from '../server/fake-parts.ts'
import { running } from '../server/running.ts'
import { openPage, startBrowser } from './page-browser.ts'

/* The page of a resource says what is sent to the platform, and does not say so where nothing is. */

let browser: Browser

beforeAll(async () => {
  browser = await startBrowser()
})

afterAll(async () => {
  await browser.close()
})

const REQUEST = {
  operation: 'createPipe',
  method: 'POST',
  path: '/v1/pipes',
  body: { name: 'orders', password: '[secret kafka/password]' },
} as const

const ID = { pipeId: '4af1717b-52aa-4b4b-aeab-b07a38d5e150' }

const CREATED = ['Wanted resource', 'No request is sent: this was created already'] as const
const HELD = [
  'Request that would be sent: createPipe',
  'No request is sent now. The top of this page says why.',
] as const

const ROWS: readonly {
  readonly why: string
  readonly key: Key
  readonly over: Over
  readonly says: readonly [title: string, text: string]
}[] = [
  { why: 'a pipe that is in sync', key: 'Pipe/x', over: ID, says: CREATED },
  {
    why: 'a pipe that drifted',
    key: 'Pipe/x',
    over: { ...ID, status: 'Drifted', action: 'report', reason: 'Drifted' },
    says: CREATED,
  },
  {
    why: 'a pipe that is not found',
    key: 'Pipe/x',
    over: { ...ID, status: 'Progressing', action: 'hold', reason: 'MissingUnconfirmed' },
    says: HELD,
  },
  {
    why: 'a pipe that was just created',
    key: 'Pipe/x',
    over: { ...ID, action: 'create' },
    says: CREATED,
  },
  {
    why: 'a pipe that is being created',
    key: 'Pipe/x',
    over: { status: 'Failed', action: 'create', reason: 'Rejected' },
    says: ['Request: createPipe', 'It is sent to create this.'],
  },
  {
    why: 'a pipe that is refused',
    key: 'Pipe/x',
    over: { status: 'Refused', action: 'refuse', reason: 'CreateLimit' },
    says: HELD,
  },
  {
    why: 'a pipe that was suspended before it was created',
    key: 'Pipe/x',
    over: { status: 'Suspended', action: 'hold', reason: 'Suspended' },
    says: HELD,
  },
  {
    why: 'a query endpoint',
    key: 'QueryEndpoint/x',
    over: { action: 'upsert' },
    says: ['Request: createPipe', 'It is sent when the manifest changes'],
  },
]

describe('what is sent', () => {
  test.each(ROWS)('$why', async ({ key, over, says: [title, text] }) => {
    const manifest = { document: {}, request: REQUEST, needs: [], neededBy: [], neededByCount: 0 }
    const { url } = await running(fakeParts({ manifest: () => manifest }, [resource(key, over)]))
    await using watched = await openPage(browser, `${url}/?resource=${key}`)
    const { page, faults } = watched
    const request = page.locator('#request')
    await request.locator('summary').click()
    await expect.poll(() => request.locator('summary').textContent()).toBe(title)
    const shown = (await request.textContent()) ?? ''
    expect(shown).toContain(text)
    expect(shown.includes('POST /v1/pipes'), 'a request only where one may be sent').toBe(
      title.startsWith('Request'),
    )
    expect(shown).toContain('"password": "[secret kafka/password]"')
    expect(faults()).toEqual([])
  })
})
