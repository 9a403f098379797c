import { expect, test } from 'vitest'
import { fieldsPage } from '../../docs/fields-page.ts'
import { compareBody } from '../../src/kinds/compare-body.ts'
import { findField } from '../../src/cli/commands/explain-command.ts'
import { identityCheck } from '../../src/kinds/identity.ts'
import { importedManifest } from '../../src/kinds/imported.ts'
import { manifestJsonSchema } from '../../src/kinds/json-schema.ts'
import { PIPE } from '../../src/kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/profiles.ts'
import { z } from '../../src/kinds/zod.ts'
import { type Json, type JsonObject, valueAt } from '../../src/lib/json.ts'
import { dialectOf } from '../../src/sandbox/dialect.ts'
import { update } from '../../src/sandbox/pipe-update.ts'
import { newPipe } from '../../src/sandbox/world.ts'

/* A field is one declaration: with `racks` in the schema of Kafka, and nothing else, all that holds for a field holds for it. */

const FIELD = 'source.kafka.racks'
const CREDENTIALS = { username: 'u', password: 'p' }

function bodyWith(racks: Json | undefined, changes: JsonObject = {}): JsonObject {
  const kafka = {
    type: 'kafka',
    format: 'JSONEachRow',
    brokers: 'b-1:9092',
    topics: 't',
    authentication: 'PLAIN',
  }
  return {
    name: 'orders',
    source: { kafka: { ...kafka, credentials: CREDENTIALS, racks, ...changes } },
    destination: { table: 't', managedTable: false, columns: [{ name: 'a', type: 'String' }] },
  }
}

test('the schema, also of editors, requires and describes it', () => {
  const credentials = { username: 'u', password: { secretRef: { name: 'kafka', key: 'password' } } }
  const issuesOf = (racks?: Json) => {
    const spec = { service: 'analytics', ...bodyWith(racks, { credentials }) }
    const { error } = PIPE.schema.safeParse({
      apiVersion: 'pipewright/v1',
      kind: 'Pipe',
      metadata: { name: 'a' },
      spec,
    })
    return error?.issues.map(({ path }) => path.join('.')) ?? []
  }
  expect([issuesOf('a,b'), issuesOf(), issuesOf(7)]).toEqual([[], [`spec.${FIELD}`], [`spec.${FIELD}`]])
  const place = ['spec', 'source', 'kafka', 'racks'].map((name) => `properties.${name}`).join('.')
  const described = { type: 'string', minLength: 1, description: 'Racks of the brokers.', examples: ['a,b'] }
  expect(valueAt(manifestJsonSchema(CLICKHOUSE_CLOUD), `oneOf.1.${place}`)).toEqual(described)
})

test('it is compared in its form, if it is returned, and identifies a pipe', () => {
  const differences = [bodyWith('b, a'), bodyWith('a')].map((there) =>
    compareBody(PIPE.fields, bodyWith('a,b', { rackToken: 'x' }), there).map(({ field }) => field),
  )
  expect(differences).toEqual([[], [FIELD]])
  const isSame = identityCheck(PIPE.identity ?? {}, bodyWith('a,b'))
  expect([isSame(bodyWith('b,a')), isSame(bodyWith('a'))]).toEqual([true, false])
})

test('a change request has it', () => {
  const compared = { desired: bodyWith('a,b'), observed: bodyWith('a') }
  const wayOf = (field: string) => PIPE.changes?.wayOf(field, new Set([field]), compared)
  expect([wayOf(FIELD), wayOf('source.kafka.rackToken')]).toEqual(['update', undefined])
  const request = PIPE.changes?.request('update', new Set(['source.kafka.authentication']), compared)
  expect(request).toMatchObject({ source: { kafka: { racks: 'a,b', authentication: 'PLAIN' } } })
})

test('explain and the docs say how it is compared and changed', () => {
  expect(findField(CLICKHOUSE_CLOUD, `pipe.spec.${FIELD}`)).toMatchObject({
    field: { isRequired: true, example: 'a,b', compared: 'yes, in any order', changed: 'by updatePipe' },
  })
  const rows = fieldsPage('', CLICKHOUSE_CLOUD).split('\n')
  expect(rows).toContain(
    '| `spec.source.kafka.racks` (required) | text | Racks of the brokers. | `"a,b"` | yes, in any order | by updatePipe |',
  )
})

test('an import writes it, and a reference to its secret', () => {
  const resource = { id: '9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d', ...bodyWith('b,a') }
  const mask = { mask: (text: string) => text as never }
  const { manifest } = importedManifest({ kind: PIPE, name: 'a', service: 's', secret: 'x', resource, mask })
  const rackToken = { secretRef: { name: 'x', key: 'rackToken' } }
  expect(manifest).toMatchObject({ spec: { source: { kafka: { racks: 'b,a', rackToken } } } })
})

test('the sandbox checks and changes it', () => {
  const dialect = dialectOf(CLICKHOUSE_CLOUD)
  const { error } = z.strictObject(dialect.pipeShape).safeParse(bodyWith(7, { rackToken: 'text' }))
  expect(error?.issues.map(({ path }) => path.join('.'))).toEqual([FIELD])
  const pipe = newPipe(dialect, { id: 'p', organizationId: 'o', serviceId: 's', createdAt: 0 }, bodyWith('a'))
  const patch = (racks: Json) =>
    update(
      { dialect, pipe, state: 'Running', now: 1 },
      { source: { kafka: { credentials: CREDENTIALS, racks } } },
    )
  expect(patch('a,b')).toMatchObject({ pipe: { body: { source: { kafka: { racks: 'a,b' } } } } })
  expect(patch(7)).toMatchObject({ error: expect.stringContaining(FIELD) as string })
})
