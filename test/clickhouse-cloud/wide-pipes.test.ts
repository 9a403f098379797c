import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { encodeRecord } from '../../src/ledger/codec.ts'
import { having } from './client.ts'
import { DELETE, KAFKA, MAPPINGS, POSTGRES, REPLACE, started, withTable } from './edited-pipes.ts'
import { byHand, story, want } from './story.ts'

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

describe('a wide pipe', () => {
  test('is deleted when its manifest asks for it', () =>
    story(
      started(wideKafka(), {}),
      want(wideKafka(), DELETE),
      'turn; is Deleting',
      (client) => {
        const record = client.record()
        expect(record && Buffer.byteLength(encodeRecord(record).body)).toBeLessThan(20_000)
      },
      'grace; until gone 5 min; sends DELETE',
    ))

  test.each([
    ['type', columns(60).with(7, { name: 'column_7', type: 'Int64' })],
    ['name', columns(60).with(7, { name: 'other', type: 'String' })],
    ['column less', columns(59)],
    ['column more', columns(61)],
  ])('is kept if the console changed one %s', (_, now) =>
    story(
      started(wideKafka(60), REPLACE),
      byHand({ 'destination.columns': now }),
      want(having(wideKafka(60), { 'source.kafka.topics': 'orders.v2' }), REPLACE),
      'for 21 min; sends nothing',
      'says it changed since it was last in sync (destination.columns)',
    ),
  )

  test('shows that its state changed', () =>
    story(started(wideKafka(60), REPLACE), 'state Failed; turn', (client) =>
      expect(client.status()).not.toBe('Ready'),
    ))

  test('is started again after a table more', () =>
    story(
      started(widePostgres(100), REPLACE),
      want(withTable('one_more', widePostgres(100)), REPLACE),
      'for 20 min; sends stop, PATCH; is InSync; runs',
    ))
})
