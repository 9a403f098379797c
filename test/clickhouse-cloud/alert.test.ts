import { viewMessage } from '../support/messages.ts'
import { createSecretMask } from '../../src/lib/mask/secret-mask.ts'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { createOnceKindOf } from '../../src/kinds/profile.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/clickhouse-cloud/profile.ts'
import { importedManifest } from '../../src/kinds/imported.ts'
import type { RemoteResource } from '../../src/kinds/remote-resource.ts'
import type { Key } from '../../src/kinds/key.ts'
import { adoptAs } from '../../src/reconcile/operator/adopt.ts'
import { textOf } from './look.ts'
import { KEY, SPEC, startAlerts, WEBHOOK, type AlertClient, type Wanted } from './alert-client.ts'

/** One that is there, and in sync. */
async function started(
  spec: JsonObject = SPEC,
  ...options: Parameters<typeof startAlerts>
): Promise<AlertClient & { readonly id: string }> {
  const client = await startAlerts(...options)
  await client.apply({ spec })
  client.sent()
  const id = client.record()?.remote?.id ?? ''
  return Object.assign(client, { id })
}

/** Somebody else makes one in the service. */
async function made({ asker }: AlertClient, fields: JsonObject = {}): Promise<string> {
  const { result } = asker.ask('POST', '/clickstack/alerts', { ...SPEC, ...fields })
  return textOf((result as JsonObject)['id'])
}

describe('an alert that its manifest asks for', () => {
  test('is listed for first, created once, and in sync from then on', async () => {
    await using client = await startAlerts()
    await client.apply()
    expect(client.sent()).toEqual(['GET', 'POST', 'GET …'])
    expect(client.bodies()).toEqual([SPEC])
    expect(client.shown()).toMatchObject({ status: 'Ready', reason: 'InSync' })
    expect(client.record()).toMatchObject({ platformName: 'Lag', intent: { state: 'succeeded' } })
    await client.restart()
    client.skip(300_000)
    await client.reconcile(KEY, 'in passing')
    expect(client.sent()).toEqual(['GET'])
    expect(client.alerts()).toHaveLength(1)
  })

  test('says what the one says that is watched: that it fires', async () => {
    await using client = await started()
    client.change(client.id, { state: 'ALERT' })
    await client.reconcile()
    expect(client.shown()).toMatchObject({
      status: 'NotReady',
      reason: 'UnhealthyState',
    })
    expect(viewMessage(client.shown())).toMatch(
      /^Its state is ALERT, which is not a healthy one\. Find out why the alert fires\./,
    )
    client.change(client.id, { state: 'PENDING' })
    expect((await client.reconcile()).next).toMatchObject({ why: 'drift' })
    expect(client.shown()?.status).toBe('Progressing')
  })

  test('is one of the states that its policy calls healthy', async () => {
    await using client = await started()
    await client.want({ lag: { policy: { healthyStates: ['OK', 'DISABLED'] } } })
    client.change(client.id, { state: 'DISABLED' })
    await client.reconcile()
    expect(client.shown()?.status).toBe('Ready')
  })

  test('with several channels is in sync, in whatever order and with what the service fills in', async () => {
    const email = { type: 'email', emailRecipients: ['a@example.com', 'b@example.com'] }
    const { channel: _one, ...spec } = SPEC
    await using client = await started({ ...spec, channels: [WEBHOOK, email] })
    const filled = { ...WEBHOOK, webhookService: 'slack_api', severity: null }
    client.change(client.id, { channel: filled, channels: [email, filled] })
    await client.reconcile()
    expect(client.shown()).toMatchObject({ status: 'Ready', reason: 'InSync' })
    client.change(client.id, { channels: [{ ...email, emailRecipients: ['a@example.com'] }, filled] })
    await client.reconcile()
    expect(client.shown()?.differences.map(({ field }) => field)).toEqual(['channels[email].emailRecipients'])
  })

  test('is planned as it is then sent', async () => {
    await using client = await startAlerts()
    await client.want({ lag: {} })
    expect(await client.plan()).toMatchObject({ action: 'create', platformName: 'Lag', desired: SPEC })
    expect(client.alerts()).toEqual([])
    await client.settle()
    await client.want({ lag: { spec: { ...SPEC, threshold: 11 } } })
    expect(await client.plan()).toMatchObject({ action: 'update' })
    expect(client.alerts()).toMatchObject([{ threshold: 10 }])
  })
})

describe('a create of unknown outcome', () => {
  test.each<{ why: string; body: JsonObject; reason: string }>([
    { why: 'the same one', body: {}, reason: 'InSync' },
    { why: 'one that differs', body: { threshold: 11 }, reason: 'Ambiguous' },
  ])('a lost ledger finds $why', async ({ body, reason }) => {
    await using client = await started()
    client.change(client.id, body)
    await client.restart('lost')
    for (let count = 0; count < 3; count += 1) await client.reconcile()
    expect(client.shown()?.reason).toBe(reason)
    expect(client.sent()).not.toContain('POST')
    expect(client.alerts()).toHaveLength(1)
  })
})

describe('an alert that exists', () => {
  test('is adopted by the manifest that is imported of it, and does not differ', async () => {
    await using client = await startAlerts()
    const id = await made(client, {
      note: 'See the runbook',
      scheduleStartAt: '2026-11-01T00:00:00.000Z',
      channel: { ...WEBHOOK, severity: 'error' },
    })
    const { result } = client.asker.ask('GET', `/clickstack/alerts/${id}`)
    client.sent()
    const { manifest } = importedManifest({
      kind: createOnceKindOf(CLICKHOUSE_CLOUD, KEY),
      name: 'lag',
      service: 'analytics',
      secret: 'lag',
      resource: result as unknown as RemoteResource,
      mask: createSecretMask(),
    })
    const { spec, policy } = (manifest ?? {}) as Readonly<Record<string, JsonObject>>
    expect(policy).toEqual({ adopt: id })
    expect(await client.want({ lag: { spec, policy } as NonNullable<Wanted> })).toEqual([])
    expect(await client.plan()).toMatchObject({ action: 'adopt', remoteId: id })
    await client.settle()
    expect(client.shown()).toMatchObject({ status: 'Ready', reason: 'InSync' })
    expect(client.sent()).not.toContain('POST')
  })

  test('is given to a key by a person, and to none that only watches', async () => {
    await using client = await startAlerts()
    const id = await made(client, { threshold: 99 })
    await client.want({ lag: {}, watched: { spec: { id } } })
    const signal = new AbortController().signal
    const adopted = (key: Key) => adoptAs(client.context(), { key, pipeId: id, word: 'adopt' }, signal)
    expect(await adopted('Alert/watched')).toMatchObject({
      result: 'refused',
      message: 'Alert/watched is only watched, by the id in its manifest.',
    })
    expect(await adopted(KEY)).toMatchObject({
      result: 'done',
      message: `Linked Alert/lag to alert ${id}. The platform reports other values than the manifest for threshold.`,
    })
  })

  test('of the same name, but in another manifest, is no reason for a second one', async () => {
    await using client = await started()
    await client.want({ lag: {}, other: {} })
    await client.reconcile('Alert/other')
    expect(client.shown('Alert/other')?.reason).toBe('Ambiguous')
    expect(client.alerts()).toHaveLength(1)
  })

  test('whose id is none that an alert can have is an unknown outcome', async () => {
    await using client = await startAlerts()
    await client.want({ lag: {} })
    const [pipe] = [crypto.randomUUID()]
    client.interfere(({ method }) => (method === 'POST' ? { answered: { id: pipe, ...SPEC } } : undefined))
    await client.reconcile()
    expect(client.shown()?.status).toBe('OutcomeUnknown')
    expect(viewMessage(client.shown())).toContain('which is not 24 hexadecimal digits')
  })
})

describe('what watches and what is created', () => {
  test('one that is watched and then asked for is taken over, not made a second time', async () => {
    await using client = await startAlerts()
    const id = await made(client)
    await client.apply({ spec: { id } })
    expect(client.shown()).toMatchObject({ status: 'Ready', reason: 'InSync' })
    expect(client.record()?.remote).toBeUndefined()
    await client.apply()
    expect(client.record()?.remote).toMatchObject({ id, origin: 'adopted' })
    expect(client.alerts()).toHaveLength(1)
  })

  test('one that differs from it is a question, and nothing is made', async () => {
    await using client = await startAlerts()
    const id = await made(client, { threshold: 99 })
    await client.apply({ spec: { id } })
    await client.want({ lag: {} })
    for (let count = 0; count < 3; count += 1) await client.reconcile()
    expect(client.shown()?.reason).toBe('Ambiguous')
    expect(client.alerts()).toHaveLength(1)
  })

  test('one that was created and is then watched is in sync, is kept in the record, and is found again', async () => {
    await using client = await started()
    const { id } = client
    await client.apply({ spec: { id, expect: { threshold: 10 } } })
    expect(client.shown()).toMatchObject({ status: 'Ready', reason: 'InSync' })
    expect(client.record()?.remote?.id).toBe(id)
    await client.restart()
    await client.apply({ spec: { ...SPEC, threshold: 12 } })
    expect(client.alerts()).toMatchObject([{ id, threshold: 12 }])
    expect(client.sent()).not.toContain('POST')
  })

  test('one that was created is not lost when another one is watched', async () => {
    await using client = await started()
    const { id } = client
    const other = await made(client, { name: 'Other' })
    await client.apply({ spec: { id: other } })
    expect(client.shown()).toMatchObject({ status: 'Orphaned', reason: 'Orphaned' })
    expect(viewMessage(client.shown())).toContain(`alert ${id}, which it had before, stays on the platform`)
    await client.restart()
    await client.remove()
    await client.reconcile()
    expect(client.shown()?.reason).toBe('Orphaned')
    await client.apply()
    expect(client.record()?.remote?.id).toBe(id)
    expect(client.alerts()).toHaveLength(2)
  })

  test('to watch another one says nothing of what was created', async () => {
    await using client = await startAlerts()
    const other = await made(client, { name: 'Other', threshold: 99 })
    await client.want({ lag: {} })
    await client.reconcile()
    expect(client.record()?.remote?.seenAt).toBeUndefined()
    await client.want({ lag: { spec: { id: other } } })
    await client.reconcile()
    expect(client.shown()?.reason).toBe('Orphaned')
    expect(client.record()?.remote?.seenAt).toBeUndefined()
  })

  test('one that is watched and not there is no answer, also where another one was created', async () => {
    const nowhere = { spec: { id: '0'.repeat(24) } }
    await using never = await startAlerts()
    await never.want({ lag: nowhere })
    await never.reconcile()
    await using client = await started()
    await client.want({ lag: nowhere })
    await client.reconcile()
    expect(client.shown()).toMatchObject({ reason: 'Rejected', status: never.shown()?.status })
    expect(never.shown()?.reason).toBe('Rejected')
  })

  test('what was not found while another one was watched is not taken for gone', async () => {
    await using client = await started()
    await client.want({ lag: { spec: { id: '0'.repeat(24) } } })
    for (let count = 0; count < 5; count += 1) {
      await client.reconcile()
      client.skip(600_000)
    }
    await client.apply()
    expect(client.record()?.remote?.id).toBe(client.id)
    expect(client.alerts()).toHaveLength(1)
  })

  test('nor is one of which nobody knows whether it was created', async () => {
    await using client = await startAlerts()
    const other = await made(client, { name: 'Other', threshold: 99 })
    await client.want({ lag: {} })
    client.interfere(({ method }) => (method === 'POST' ? 'cut after' : undefined))
    await client.reconcile()
    client.interfere(undefined)
    await client.apply({ spec: { id: other } })
    expect(client.shown()).toMatchObject({ reason: 'Orphaned' })
    expect(viewMessage(client.shown())).toContain('An earlier create for it might have worked')
    await client.want({ lag: {} })
    client.skip(60_000)
    await client.settle()
    expect(client.alerts()).toHaveLength(2)
    expect(client.shown()?.status).toBe('Ready')
  })
})

const PIPE = {
  apiVersion: 'pipewright/v1',
  kind: 'Pipe',
  metadata: { name: 'lag' },
  spec: {
    service: 'analytics',
    name: 'Lag',
    source: {
      kafka: {
        type: 'msk',
        format: 'JSONEachRow',
        brokers: 'b-1.example:9094',
        topics: 'lag',
        authentication: 'IAM_ROLE',
        iamRole: 'arn:aws:iam::123456789012:role/ingest',
      },
    },
    destination: {
      database: 'default',
      table: 'lag',
      managedTable: true,
      tableDefinition: { engine: { type: 'MergeTree' }, sortingKey: ['id'] },
      columns: [{ name: 'id', type: 'UUID' }],
    },
    fieldMappings: [{ sourceField: 'id', destinationField: 'id' }],
  },
}

describe('alerts and pipes of one name and one service', () => {
  test('have nothing to do with each other', async () => {
    await using client = await startAlerts()
    expect(await client.want({ lag: {} }, [PIPE])).toEqual([])
    expect(await client.plan()).toMatchObject({ action: 'create' })
    await client.reconcile('Pipe/lag')
    await client.settle()
    expect(client.shown()).toMatchObject({ status: 'Ready', reason: 'InSync' })
    await client.restart('lost')
    await client.settle()
    await client.reconcile('Pipe/lag')
    expect(client.record()?.remote?.id).toBe(client.alerts()[0]?.['id'])
    expect(client.record('Pipe/lag')?.remote?.id).toBe([...client.asker.server.pipes().keys()][0])
    expect(client.asker.server.pipes().size).toBe(1)
    expect(client.alerts()).toHaveLength(1)
  })

  test('nor in a plan, in which nothing is there yet', async () => {
    await using client = await startAlerts()
    const first = { policy: { healthyStates: ['INSUFFICIENT_DATA'] } }
    const pipe = { ...PIPE, policy: { dependsOn: [KEY] } }
    expect(await client.want({ lag: first }, [pipe])).toEqual([])
    expect(await client.plan('Pipe/lag')).toMatchObject({ action: 'create', reason: 'New' })
  })

  test('a pipe that is found is no witness of an alert that is not', async () => {
    await using client = await started()
    await client.want({ lag: {} }, [PIPE])
    await client.reconcile('Pipe/lag')
    client.asker.ask('DELETE', `/clickstack/alerts/${client.id}`)
    for (let count = 0; count < 2; count += 1) {
      client.skip(70_000)
      await client.reconcile()
      await client.reconcile('Pipe/lag')
    }
    expect(viewMessage(client.shown())).toContain('The service has no other alert')
    client.skip(70_000)
    await client.reconcile()
    expect(client.shown()?.reason).toBe('MissingUnconfirmed')
  })
})

describe('a manifest that is edited', () => {
  const full = {
    ...SPEC,
    groupBy: 'ServiceName',
    message: 'It lags',
    note: 'See the runbook',
    numConsecutiveWindows: 2,
  }

  test.each<{ why: string; before?: JsonObject; after: JsonObject; there: JsonObject }>([
    { why: 'a number', after: { threshold: 11 }, there: { threshold: 11 } },
    { why: 'a name', after: { name: 'Lag of orders' }, there: { name: 'Lag of orders' } },
    {
      why: 'a range',
      after: { thresholdType: 'between', thresholdMax: 20 },
      there: { thresholdType: 'between', thresholdMax: 20 },
    },
    {
      why: 'another source',
      after: { source: 'tile', savedSearchId: undefined, dashboardId: 'a'.repeat(24), tileId: 't' },
      there: { source: 'tile', dashboardId: 'a'.repeat(24), tileId: 't' },
    },
    {
      why: 'another webhook',
      after: { channel: { type: 'webhook', webhookId: 'b'.repeat(24), severity: 'error' } },
      there: { channel: { type: 'webhook', webhookId: 'b'.repeat(24), severity: 'error' } },
    },
    {
      why: 'another channel',
      after: { channel: { type: 'email', emailRecipients: ['a@example.com'] } },
      there: { channel: { type: 'email', emailRecipients: ['a@example.com'] } },
    },
    {
      why: 'a start',
      after: { scheduleStartAt: '2026-11-01T00:00:00Z' },
      there: { scheduleStartAt: '2026-11-01T00:00:00Z' },
    },
    {
      why: 'no start any more',
      before: { scheduleStartAt: '2026-11-01T00:00:00Z' },
      after: { scheduleStartAt: undefined },
      there: { scheduleStartAt: null },
    },
    {
      why: 'no offset any more',
      before: { scheduleOffsetMinutes: 3 },
      after: { scheduleOffsetMinutes: undefined },
      there: { scheduleOffsetMinutes: 0 },
    },
    {
      why: 'a start in place of an offset',
      before: { scheduleOffsetMinutes: 3 },
      after: { scheduleOffsetMinutes: undefined, scheduleStartAt: '2026-11-01T00:00:00Z' },
      there: { scheduleOffsetMinutes: 0, scheduleStartAt: '2026-11-01T00:00:00Z' },
    },
    {
      why: 'no range any more',
      before: { thresholdType: 'between', thresholdMax: 20 },
      after: { thresholdType: 'above', thresholdMax: undefined },
      there: { thresholdType: 'above' },
    },
  ])('changes the alert: $why', async ({ before, after, there }) => {
    await using client = await started(withoutUndefined({ ...SPEC, ...before }))
    expect(await client.want({ lag: { spec: withoutUndefined({ ...SPEC, ...before, ...after }) } })).toEqual(
      [],
    )
    await client.settle()
    expect(client.shown()).toMatchObject({ status: 'Ready', reason: 'InSync' })
    // Looked at, looked at once more right before the request, and looked at after it.
    expect(client.sent()).toEqual(['GET …', 'GET …', 'PUT …', 'GET …'])
    expect(client.alerts()).toMatchObject([{ id: client.id, ...there }])
    expect(client.bodies().at(-1)).not.toHaveProperty('id')
    expect(client.bodies().at(-1)).not.toHaveProperty('state')
  })

  test.each(['message', 'note', 'groupBy', 'numConsecutiveWindows'] as const)(
    'clears what it takes out: %s',
    async (field) => {
      await using client = await started(full)
      const { [field]: _, ...rest } = full
      await client.apply({ spec: rest })
      expect(client.alerts()[0]).not.toHaveProperty(field)
      expect(client.shown()).toMatchObject({ status: 'Ready', reason: 'InSync' })
    },
  )

  test('says what the service keeps, and does not ask for it again and again', async () => {
    await using client = await started(full, { keptByPut: ['groupBy'] })
    const { groupBy: _, ...rest } = full
    await client.apply({ spec: { ...rest, threshold: 11 } })
    expect(client.alerts()).toMatchObject([{ threshold: 11, groupBy: 'ServiceName' }])
    expect(client.shown()).toMatchObject({ status: 'Drifted', reason: 'Stalled' })
    expect(viewMessage(client.shown())).toContain(
      'The manifest no longer has groupBy. The service accepted the request without it, but keeps it',
    )
    client.sent()
    for (let count = 0; count < 3; count += 1) {
      client.skip(3_700_000)
      await client.restart()
      await client.reconcile(KEY, 'in passing')
    }
    expect(client.sent().filter((sent) => sent.startsWith('PUT'))).toEqual([])
    expect(client.shown()).toMatchObject({ reason: 'Stalled' })
    // Written again, it is as it should be.
    await client.apply({ spec: { ...full, threshold: 11 } })
    expect(client.shown()).toMatchObject({ status: 'Ready', reason: 'InSync' })
    // Taken away elsewhere, too.
    await client.apply({ spec: { ...rest, threshold: 11 } })
    client.change(client.id, { groupBy: null })
    await client.settle()
    expect(client.shown()).toMatchObject({ status: 'Ready', reason: 'InSync' })
  })

  test('goes on with another edit while something is kept', async () => {
    await using client = await started(full, { keptByPut: ['groupBy'] })
    const { groupBy: _, ...rest } = full
    await client.apply({ spec: rest })
    await client.apply({ spec: { ...rest, threshold: 12 } })
    expect(client.alerts()).toMatchObject([{ threshold: 12 }])
    expect(client.shown()?.reason).toBe('Stalled')
    await client.apply({ spec: full })
    expect(client.alerts()).toMatchObject([{ threshold: 10 }])
    expect(client.shown()?.reason).toBe('InSync')
  })

  test('keeps what somebody else has set since, up to the moment of the request', async () => {
    await using client = await started()
    await client.reconcile(KEY)
    client.sent()
    let readings = 0
    client.interfere(({ method }) => {
      if (method === 'GET') readings += 1
      // After the reading that was decided on.
      if (method === 'GET' && readings === 2)
        client.change(client.id, { note: 'Set elsewhere', silenced: { at: 'x' } })
      return undefined
    })
    await client.apply({ spec: { ...SPEC, threshold: 11 } })
    expect(client.bodies().at(-1)).toMatchObject({ threshold: 11, note: 'Set elsewhere' })
    expect(client.alerts()).toMatchObject([{ threshold: 11, note: 'Set elsewhere', silenced: { at: 'x' } }])
  })

  test('keeps the other channels, and the fields of one that are not its own', async () => {
    await using client = await started()
    const channel = { ...WEBHOOK, webhookService: 'slack_api', severity: 'critical' }
    client.change(client.id, {
      channel,
      channels: [channel, { type: 'email', emailRecipients: ['b@example.com'] }],
    })
    await client.want({ lag: { spec: { ...SPEC, threshold: 11 } } })
    await client.reconcile()
    expect(client.bodies().at(-1)).toMatchObject({
      channel,
      channels: [channel, { type: 'email', emailRecipients: ['b@example.com'] }],
    })
  })

  test('is sent again when its request was refused once', async () => {
    await using client = await started()
    await client.want({ lag: { spec: { ...SPEC, threshold: 11 } } })
    let left = 1
    const mishap = { status: 400, error: 'BAD_REQUEST: webhook not found' }
    client.interfere(({ method }) => (method === 'PUT' && left-- > 0 ? mishap : undefined))
    await client.reconcile()
    expect(client.shown()?.status).not.toBe('Ready')
    client.skip(900_000)
    await client.settle()
    expect(client.alerts()).toMatchObject([{ threshold: 11 }])
  })
})

function withoutUndefined(object: Readonly<Record<string, unknown>>): JsonObject {
  return JSON.parse(JSON.stringify(object)) as JsonObject
}
