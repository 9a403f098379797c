import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/daemon/system-clock.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { Ledger, OpenedLedger } from '../../src/contract/ledger.ts'
import { acceptKubernetesLedger } from '../../src/ledger/kubernetes/accept-set-back.ts'
import { blank, ORDERS } from '../ledger/samples.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { startApiModel, type ApiModel } from './api-model.ts'
import { openAt, writeKubeconfig } from './open-at.ts'

/* Records that were put back to an earlier state, by a restored etcd or by hand: pipes that were created since are not in them. */

const never = new AbortController().signal

let api: ApiModel
let workspace: Workspace
let opened: AsyncDisposableStack

beforeEach(async () => {
  api = await startApiModel()
  workspace = createWorkspace()
  opened = new AsyncDisposableStack()
})

afterEach(async () => {
  api.interfere(undefined)
  await opened.disposeAsync()
  workspace[Symbol.dispose]()
  await api[Symbol.asyncDispose]()
})

async function open(): Promise<OpenedLedger> {
  const made = await openAt(api, workspace, { clock: systemClock })
  opened.use(made.ledger)
  return made
}

async function refusal({ ledger }: { readonly ledger: Ledger }): Promise<string | undefined> {
  try {
    await ledger.prepareIntent()
    return undefined
  } catch (error) {
    return String(error)
  }
}

async function accept(): Promise<string | undefined> {
  return acceptKubernetesLedger({
    place: 'ledger',
    env: { KUBECONFIG: writeKubeconfig(api, workspace) },
    clock: systemClock,
  })
}

function pathOf(part: string): string {
  const path = [...api.objects().keys()].find((each) => each.includes(part))
  if (path === undefined) throw new Error(`there is no ${part}`)
  return path
}

/** A process acts, writes a record, and ends. @returns puts the record back to what it was before its last write, by hand */
async function writtenTwice(): Promise<() => void> {
  const one = await open()
  const term = await one.leadership.acquire(never, 'wait')
  const first = await one.ledger.swap(blank(ORDERS), [])
  const path = pathOf('pipewrightrecords')
  const before = api.objects().get(path)
  await one.ledger.swap({ ...first, line: 7 }, [])
  await term.confirm()
  await term.release()
  await one.ledger[Symbol.asyncDispose]()
  return () => void (api.objects() as Map<string, JsonObject | undefined>).set(path, before)
}

test('while a process works with them: nothing is created, by it or by whoever starts after, until a person accepts it', async () => {
  const one = await open()
  const first = await one.ledger.swap(blank(ORDERS), [])
  const back = api.snapshot()
  await one.ledger.swap({ ...first, line: 7 }, [])
  expect(await refusal(one)).toBeUndefined()
  back()
  const said = await until('that it is noticed', () => refusal(one))
  expect(said).toContain(
    'was put back to an earlier state: the record of Pipe/orders was at version 2, and is at 1',
  )
  await until('that the Secret says it', () => api.writes.some((write) => write.includes('/secrets/')))
  await one.ledger[Symbol.asyncDispose]()
  const next = await open()
  expect(await refusal(next)).toBe(said)
  expect(await accept()).toContain('the record of Pipe/orders')
  expect(await refusal(next)).toBeUndefined()
  expect(await accept()).toBeUndefined()
})

test('who noticed it itself creates again once a person has accepted it', async () => {
  const one = await open()
  const first = await one.ledger.swap(blank(ORDERS), [])
  const back = api.snapshot()
  await one.ledger.swap({ ...first, line: 7 }, [])
  back()
  await until('that it is noticed', () => refusal(one))
  await until('that it can be accepted', accept)
  expect(await refusal(one)).toBeUndefined()
})

test('to before the last takeover: the Lease says it', async () => {
  const zero = await open()
  await (await zero.leadership.acquire(never, 'wait')).release()
  const back = api.snapshot()
  const one = await open()
  const term = await one.leadership.acquire(never, 'wait')
  back()
  await until('that it is over', () => term.over.aborted)
  expect(await refusal(one)).toContain('the Lease had been taken 2 times, and says 1')
})

test('while no process works with them: whoever takes over notices it', async () => {
  const back = await writtenTwice()
  back()
  const next = await open()
  await next.leadership.acquire(never, 'wait')
  expect(await refusal(next)).toContain(
    'its records had been written 2 times, and 1 of these writes are there',
  )
})

test('while no process works with them, and the first one that takes over dies before it has said so: the next one notices it', async () => {
  const back = await writtenTwice()
  back()
  const next = await open()
  api.interfere(({ method, path }) => (method === 'PUT' && path.includes('/secrets/') ? 'cut' : undefined))
  const giveUp = new AbortController()
  const acting = next.leadership.acquire(giveUp.signal, 'wait').catch(() => undefined)
  await until('the Lease', () =>
    JSON.stringify(api.objects().get(pathOf('/leases/'))).includes('"leaseTransitions":2'),
  )
  api.interfere(() => 'cut')
  giveUp.abort()
  await next.ledger[Symbol.asyncDispose]()
  await acting
  api.interfere(undefined)
  const last = await open()
  await last.leadership.acquire(never, 'wait')
  expect(await refusal(last)).toContain('its records had been written 2 times')
})

test('what is as it was is not said to be put back, whoever takes over', async () => {
  await writtenTwice()
  for (let takeovers = 0; takeovers < 3; takeovers += 1) {
    const next = await open()
    const term = await next.leadership.acquire(never, 'wait')
    const record = await next.ledger.get(ORDERS)
    if (record === undefined) throw new Error('it is gone')
    await next.ledger.move(record, { ...record, key: 'Pipe/other', version: 0 }, [])
    const moved = await next.ledger.get('Pipe/other')
    if (moved === undefined) throw new Error('it did not arrive')
    await next.ledger.move(moved, { ...moved, key: ORDERS, version: 0 }, [])
    expect(await refusal(next)).toBeUndefined()
    await term.release()
    await next.ledger[Symbol.asyncDispose]()
  }
})

test('notes of ten thousand problems have room in the Secret', async () => {
  const { notes } = await open()
  const lines = Array.from(
    { length: 30_000 },
    (_, at) =>
      `"Pipe/orders-${at}": {"state": "Blocked Synced BadRequest", "status": "Blocked", "reason": "BadRequest"}`,
  )
  const text = `{${lines.join()}}`
  await notes?.write('sentState', text)
  expect(await notes?.read('sentState')).toBe(text)
  const size = JSON.stringify(api.objects().get(pathOf('/secrets/'))).length
  expect(size).toBeLessThan(1_000_000)
})

test('a note that somebody has edited is one that cannot be read, and no error', async () => {
  const { notes } = await open()
  await notes?.write('sentState', 'text')
  const path = pathOf('/secrets/')
  const secret = api.objects().get(path) as { readonly data: JsonObject }
  const data = { ...secret.data, sentState: 'AAAA' }
  ;(api.objects() as Map<string, JsonObject>).set(path, { ...secret, data })
  expect(await notes?.read('sentState')).toBe('')
})
