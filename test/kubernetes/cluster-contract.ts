import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LedgerConflict, LedgerError, type Ledger, type OpenedLedger } from '../../src/contract/ledger.ts'
import { NotLeading } from '../../src/contract/leadership.ts'
import { sleep, type Clock } from '../../src/lib/clock.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { KubernetesLedgerOptions } from '../../src/ledger/kubernetes/open-kubernetes-ledger.ts'
import { blank, ORDERS } from '../ledger/samples.ts'
import { until } from '../support/until.ts'

/** A cluster without a ledger, for one test. */
export interface Cluster extends AsyncDisposable {
  /** Of its ledger. */
  readonly name: string
  /** Of all its processes. */
  readonly clock: Clock
  /** Opens its ledger as another process. */
  open(options?: Partial<KubernetesLedgerOptions>): Promise<OpenedLedger>
  /** A person makes an object, as with `kubectl create`. @returns the status of the answer */
  create(object: JsonObject): Promise<number>
}

const never = new AbortController().signal
const LEASE_MS = 1_000

/** What a ledger in a cluster promises besides {@link ../ledger/ledger-contract.ts}: with several processes. */
export function describeClusterLedger(name: string, start: () => Promise<Cluster>): void {
  let cluster: Cluster
  let opened: AsyncDisposableStack

  async function open(options: Partial<KubernetesLedgerOptions> = {}): Promise<OpenedLedger> {
    const made = await cluster.open({ leaseMs: LEASE_MS, clock: cluster.clock, ...options })
    opened.use(made.ledger)
    return made
  }

  describe(`several processes with a ledger in ${name}`, () => {
    beforeEach(async () => {
      cluster = await start()
      opened = new AsyncDisposableStack()
    })

    afterEach(async () => {
      await opened.disposeAsync()
      await cluster[Symbol.asyncDispose]()
    })

    test('what one writes, another one hears of, also after a failure; its own writes are not somebody else’s', async () => {
      const said: string[] = []
      const [one, other] = [await open(), await open({ emit: ({ type }) => void said.push(type) })]
      const failures = [new TypeError('a bug'), new LedgerError('io', 'the ledger is closed')]
      await other.ledger.watch(() => Promise.reject(failures.pop()))
      const record = await one.ledger.swap(blank(ORDERS), [])
      await until('the write of another process', () => failures.length === 1)
      expect(said).not.toContain('Bug')
      expect(await other.ledger.get(ORDERS)).toStrictEqual(record)
      expect([[...one.ledger.toRead.keys()], [...other.ledger.toRead.keys()]]).toEqual([[], [ORDERS]])
      await one.ledger.swap(record, [])
      await until('the next one', () => said.includes('Bug'))
    })

    test('of two that write on top of the same, one is refused, and sees the other’s then', async () => {
      const [one, other] = [await open(), await open({ mode: 'reader' })]
      const first = await one.ledger.swap(blank(ORDERS, { line: 1 }), [])
      await expect(other.ledger.swap(blank(ORDERS, { line: 2 }), [])).rejects.toThrow(LedgerConflict)
      expect(await other.ledger.get(ORDERS)).toStrictEqual(first)
      await one.ledger.remove(first, [])
      await expect(other.ledger.swap({ ...first, line: 3 }, [])).rejects.toThrow(LedgerConflict)
      expect(await other.ledger.get(ORDERS)).toBeUndefined()
    })

    test('a record that somebody writes while it moves does not move, for nobody', async () => {
      // One that does not listen: it hears of the write at the end of its move.
      const [other, one] = [await open(), await open({ mode: 'reader' })]
      const from = await one.ledger.swap(blank('Pipe/old'), [])
      const taken = await one.ledger.swap(blank('Pipe/new', { line: 5 }), [])
      await catchUpWith(other.ledger, [from, taken])
      const changed = await other.ledger.swap({ ...from, line: 7 }, [])
      await expect(one.ledger.move(from, { ...taken, line: 9 }, [])).rejects.toThrow(LedgerConflict)
      const third = await open({ mode: 'reader' })
      for (const { ledger } of [one, third]) expect(await ledger.list()).toStrictEqual([taken, changed])
      const moved = await one.ledger.move(changed, { ...taken, line: 9 }, [])
      expect(await one.ledger.list()).toStrictEqual([moved])
      expect((await (await open({ mode: 'reader' })).ledger.list()).map(({ key }) => key)).toEqual([
        'Pipe/new',
      ])
      // The key that it came from is another one's now; and what has moved stays where it is.
      const again = await one.ledger.swap(blank('Pipe/old'), [])
      expect(await one.ledger.list()).toStrictEqual([moved, again])
      expect(await (await open({ mode: 'reader' })).ledger.list()).toStrictEqual([moved, again])
    })

    test.each([
      'Pipe/orders',
      'Pipe/Orders_2024',
      `Pipe/${'long-'.repeat(60)}name`,
      'Pipe/ünï',
      'Alert/00000000-0000-4000-8000-000000000000',
    ] as const)('the record of %s has an object, whatever names Kubernetes allows', async (key) => {
      const { ledger } = await open()
      const record = await ledger.swap(blank(key), [])
      expect(await (await open({ mode: 'reader' })).ledger.list()).toStrictEqual([record])
    })

    test('an object that is called as the record of its key, and cannot be read, is lost work: nothing is done', async () => {
      await (await open()).ledger.swap(blank(ORDERS), [])
      const ledgerName = cluster.name
      const broken = { ...recordObject(ledgerName, `${ledgerName}.pipe.z`), key: 'Pipe/z', version: 0 }
      expect(await cluster.create(broken)).toBe(201)
      await expect(open()).rejects.toMatchObject({ code: 'corrupt' })
      await expect(open()).rejects.toThrow('Do not delete it. Restore it from a backup')
    })

    test('records of 1,200 keys are read, in several pages', async () => {
      const { ledger } = await open()
      const keys = Array.from({ length: 1_200 }, (_, at) => `Pipe/p${String(at).padStart(5, '0')}` as const)
      for (let at = 0; at < keys.length; at += 100)
        await Promise.all(keys.slice(at, at + 100).map((key) => ledger.swap(blank(key), [])))
      const read = await (await open({ mode: 'reader' })).ledger.list()
      expect(read.map(({ key }) => key)).toEqual(keys)
    })

    test('a second process waits while the first one acts, and acts once that one has released it', async () => {
      const [one, other] = [await open(), await open()]
      const first = await one.leadership.acquire(never, 'wait')
      let second: number | undefined
      const waiting = other.leadership.acquire(never, 'wait').then(({ epoch }) => (second = epoch))
      await sleep(cluster.clock, 2 * LEASE_MS, never)
      expect(second).toBeUndefined()
      await first.confirm()
      await first.release()
      await waiting
      expect(second).toBe(first.epoch + 1)
    })

    test('one that is silent is taken over after the duration of its Lease, and not before; then its requests are fenced', async () => {
      // It stands still: what it has planned does not happen.
      const standing = { ...cluster.clock, after: () => () => undefined }
      const one = await open({ leaseMs: 2 * LEASE_MS, clock: standing })
      const first = await one.leadership.acquire(never, 'wait')
      // It does not renew, and a busy API takes longer than its Lease lasts.
      const intent = await (await open()).ledger.swap(blank(ORDERS, { line: 1 }), [])
      await until('it to hear of that', async () => (await one.ledger.get(ORDERS)) !== undefined)
      const other = await open()
      const began = cluster.clock.monotonic()
      const second = await other.leadership.acquire(never, 'wait')
      expect(cluster.clock.monotonic() - began).toBeGreaterThanOrEqual(2 * LEASE_MS)
      expect(second.epoch).toBe(first.epoch + 1)
      // It reads what was written before it acts.
      expect(await other.ledger.get(ORDERS)).toStrictEqual(intent)
      await expect(first.confirm()).rejects.toThrow(NotLeading)
      await expect(first.confirm()).rejects.toMatchObject({ isOver: true })
      expect(first.over.aborted).toBe(true)
      // What became of its request is recorded all the same.
      const outcome = await one.ledger.settle({ ...intent, line: 2 }, [])
      await until('the outcome', async () => (await other.ledger.get(ORDERS))?.version === outcome.version)
      await second.confirm()
    })

    test('who takes over knows how late a request of the one before may arrive, and who comes after that does not wait for it', async () => {
      const first = await (await open({ requestTimeoutMs: 400 })).leadership.acquire(never, 'wait')
      await first.release()
      const second = await (await open({ requestTimeoutMs: 100 })).leadership.acquire(never, 'wait')
      expect(second.lateForMs).toBe(400)
      await sleep(cluster.clock, 400, never)
      await second.confirm()
      await second.release()
      const third = await (await open({ requestTimeoutMs: 50 })).leadership.acquire(never, 'wait')
      expect(third.lateForMs).toBe(100)
    })

    test('what was acted on is known to whoever takes over, and not what another process has only read', async () => {
      const first = await open()
      let term = await first.leadership.acquire(never, 'wait')
      expect(term.revisionBefore).toBeUndefined()
      first.leadership.actOn('r1')
      await term.confirm()
      first.leadership.actOn('r2')
      await term.confirm()
      await term.release()
      for (let at = 0; at < 2; at += 1) {
        const other = await open()
        term = await other.leadership.acquire(never, 'wait')
        expect(term.revisionBefore).toBe('r2')
        await term.confirm()
        await term.release()
      }
    })

    test('a ledger that is not there is none for who only reads, and for who may not make one', async () => {
      for (const options of [{ mode: 'reader' }, { init: 'never' }] as const)
        await expect(open(options)).rejects.toMatchObject({ name: 'LedgerError', code: 'missing' })
    })

    test('a ledger of another platform or profile is refused, once it has records', async () => {
      const one = await open({ platform: 'https://a.example', profile: 'clickhouse-cloud' })
      const term = await one.leadership.acquire(never, 'wait')
      await one.ledger.swap(blank(ORDERS), [])
      await term.release()
      await expect(open({ platform: 'https://b.example', profile: 'clickhouse-cloud' })).rejects.toThrow(
        'was used with https://a.example',
      )
      await expect(open({ platform: 'https://a.example', profile: 'default' })).rejects.toThrow(
        'was used with --profile clickhouse-cloud',
      )
      await open({ platform: 'https://a.example', profile: 'clickhouse-cloud' })
    })

    test('who does not wait is refused once the other process is known to live', async () => {
      const [one, other] = [await open(), await open()]
      await one.leadership.acquire(never, 'wait')
      await expect(other.leadership.acquire(never, 'refuse')).rejects.toMatchObject({ code: 'locked' })
    })
  })
}

function recordObject(ledger: string, name: string): JsonObject {
  return {
    apiVersion: 'pipewright.dev/v1',
    kind: 'PipewrightRecord',
    metadata: { name, labels: { 'pipewright.dev/ledger': ledger } },
  }
}

async function catchUpWith(
  ledger: Ledger,
  records: readonly { readonly key: string; readonly version: number }[],
) {
  await until('what another process wrote', async () => {
    const there = await Promise.all(records.map(({ key }) => ledger.get(key as never)))
    return records.every(({ version }, index) => there[index]?.version === version)
  })
}
