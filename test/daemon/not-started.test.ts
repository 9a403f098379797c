import { expect, test } from 'vitest'
import { createDaemon } from '../../src/daemon/daemon.ts'
import { NOTHING_SAID_BEFORE } from '../../src/contract/events.ts'
import { given } from '../reconcile/given.ts'
import { pipe } from '../reconcile/manifests.ts'

test('before the records are read, the daemon says that it starts, and a request reads no manifests', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  const reads: string[] = []
  const daemon = createDaemon({
    ...world,
    source: {
      load: () => {
        reads.push('read')
        return new Promise(() => undefined)
      },
    },
    concurrency: 1,
    lateForMs: () => undefined,
    renewed: () => Promise.resolve([]),
    probeNow: () => undefined,
    forgetSecrets: () => undefined,
    onAccept: () => undefined,
    saidBefore: () => NOTHING_SAID_BEFORE,
    watch: () => Promise.resolve({ mode: () => 'recursive', close: () => Promise.resolve() }),
  })
  expect([daemon.ready(), daemon.health()]).toEqual([
    { ok: false, detail: 'starting' },
    { ok: true, detail: 'starting' },
  ])
  expect([daemon.request(undefined, 'force').token, daemon.watchMode()]).toEqual(['', 'none'])
  expect(reads).toEqual([])

  await daemon.start(false)
  expect(daemon.ready().detail).toBe('the directory was not read yet')
  expect([daemon.health().detail, daemon.watchMode()]).toEqual(['on standby', 'recursive'])
  expect(daemon.request('Pipe/orders', 'normal').accepted).toEqual(['Pipe/orders'])
  await daemon.stop(AbortSignal.abort())
  expect(reads).toEqual(['read'])
})
