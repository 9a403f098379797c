import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { encodeRecord } from '../../src/ledger/codec.ts'
import type { Client } from './client.ts'
import { DELETE, goesOn, GRACE, REPLACE, started } from './deleted-pipes.ts'
import { byHand, during, having, KAFKA, MAPPINGS, MINUTE, POSTGRES, sent, withTable } from './edited-pipes.ts'

/* Records of very wide pipes fit the ledger (64 KiB). */

const WIDE = 400

function columns(count: number, type = 'String') {
  return Array.from({ length: count }, (_, i) => ({ name: `column_${i}`, type }))
}

function wideKafka(count = WIDE): JsonObject {
  const fieldMappings = columns(count).map(({ name }) => ({ sourceField: name, destinationField: name }))
  const tableDefinition = { engine: { type: 'MergeTree' } }
  return having(KAFKA, {
    'destination.columns': columns(count),
    'destination.tableDefinition': tableDefinition,
    fieldMappings,
  })
}

function widePostgres(count = WIDE): JsonObject {
  const tables = Array.from({ length: count }, (_, i) => ({
    sourceSchemaName: 'public',
    sourceTable: `table_${i}_${'x'.repeat(40)}`,
    targetTable: `table_${i}_${'x'.repeat(40)}`,
  }))
  return having(POSTGRES, { [MAPPINGS]: tables })
}

function bytes(client: Client): number {
  const record = client.record()
  return record === undefined ? 0 : Buffer.byteLength(encodeRecord(record).body)
}

describe('a wide pipe', () => {
  test('is deleted when its manifest asks for it', async () => {
    await using client = await started(wideKafka(), {})
    await client.want(wideKafka(), DELETE)
    await client.reconcile()
    expect(client.reason()).toBe('Deleting')
    expect(bytes(client)).toBeLessThan(20_000)
    client.skip(GRACE)
    await goesOn(client, 5 * MINUTE)
    expect(sent(client)).toEqual(['DELETE'])
  })

  test.each([
    ['type', columns(60).with(7, { name: 'column_7', type: 'Int64' })],
    ['name', columns(60).with(7, { name: 'other', type: 'String' })],
    ['column less', columns(59)],
    ['column more', columns(61)],
  ])('is kept if the console changed one %s', async (_, now) => {
    await using client = await started(wideKafka(60), REPLACE)
    byHand(client, { 'destination.columns': now })
    await client.want(having(wideKafka(60), { 'source.kafka.topics': 'orders.v2' }), REPLACE)
    await during(client, 2 * GRACE)
    expect(client.message()).toContain('is not as it was when it was last in sync (destination.columns)')
    expect(sent(client)).toEqual([])
  })

  test('shows that its state changed', async () => {
    await using client = await started(wideKafka(60), REPLACE)
    client.server.setStates(client.id(), 'Failed')
    await client.reconcile()
    expect(client.status()).not.toBe('Ready')
  })

  test('is started again after a table more', async () => {
    await using client = await started(widePostgres(100), REPLACE)
    await client.want(withTable('one_more', widePostgres(100)), REPLACE)
    await during(client, 20 * MINUTE)
    expect(sent(client)).toEqual(['stop', 'PATCH'])
    expect([client.reason(), client.state()]).toEqual(['InSync', 'Running'])
  })
})
