import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/daemon/system-clock.ts'
import type { Ledger, OpenedLedger } from '../../src/contract/ledger.ts'
import { openAt } from '../kubernetes/open-at.ts'
import { withRealApi, type RealApi } from '../kubernetes/real-api.ts'
import { blank, ORDERS } from '../ledger/samples.ts'
import { until } from '../support/until.ts'
import type { Workspace } from '../support/workspace.ts'

/* A restore of a real etcd, under processes that work with it: a real API does not tell them. */

const never = new AbortController().signal

let api: RealApi
let workspace: Workspace
let opened: AsyncDisposableStack

withRealApi((...given) => {
  ;[api, workspace] = given
})

beforeEach(() => {
  opened = new AsyncDisposableStack()
})

afterEach(() => opened.disposeAsync())

async function open(place: string): Promise<OpenedLedger> {
  const made = await openAt(api, workspace, { place, clock: systemClock })
  opened.use(made.ledger)
  return made
}

async function refusal(ledger: Ledger): Promise<string> {
  try {
    await ledger.assertCanSettle()
    return ''
  } catch (error) {
    return String(error)
  }
}

const isNoticed = async (ledger: Ledger) =>
  (await refusal(ledger)).includes('rolled back to an earlier state')

test('who only listens notices it, and nobody creates', async () => {
  const [one, other] = [await open('listens'), await open('listens')]
  const first = await one.ledger.swap(blank(ORDERS), [])
  await until('that it is heard', async () => (await other.ledger.get(ORDERS)) !== undefined)
  await api.save()
  await one.ledger.swap({ ...first, line: 7 }, [])
  await until('that it is heard', async () => (await other.ledger.get(ORDERS))?.line === 7)
  expect(await refusal(other.ledger)).toBe('')
  await one.ledger[Symbol.asyncDispose]()
  await api.back()
  await until('that it is noticed', () => isNoticed(other.ledger))
  const next = await open('listens')
  await until('that it is written down', () => isNoticed(next.ledger))
})

test('who holds the Lease notices it', async () => {
  const { ledger, leadership } = await open('holds')
  const term = await leadership.acquire(never, 'wait')
  await ledger.swap(blank(ORDERS), [])
  await term.confirm()
  await api.save()
  await until('that it is renewed', () => term.confirm().then(...settled))
  await api.back()
  expect(await until('that it is noticed', () => isNoticed(ledger))).toBe(true)
})

test('who starts after it notices it by nothing but what the Lease says, where that was not restored', async () => {
  const one = await open('starts')
  const term = await one.leadership.acquire(never, 'wait')
  const first = await one.ledger.swap(blank(ORDERS), [])
  await api.save()
  await one.ledger.swap({ ...first, line: 7 }, [])
  await until('that it is renewed', () => term.confirm().then(...settled))
  await term.release()
  await one.ledger[Symbol.asyncDispose]()
  const lease = '/apis/coordination.k8s.io/v1/namespaces/default/leases/starts'
  const { metadata } = (await api.request('GET', lease)).body as { readonly metadata: object }
  await api.back()
  const { body } = await api.request('GET', lease)
  const now = body['metadata'] as { readonly resourceVersion: string }
  const put = { ...body, metadata: { ...metadata, resourceVersion: now.resourceVersion } }
  expect((await api.request('PUT', lease, put)).status).toBe(200)
  const next = await open('starts')
  await next.leadership.acquire(never, 'wait')
  expect(await refusal(next.ledger)).toContain('writes, and show only ')
})

const settled = [() => true, () => false] as const
