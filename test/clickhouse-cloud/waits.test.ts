import { describe, expect, test } from 'vitest'
import {
  during,
  having,
  KAFKA,
  MINUTE,
  POSTGRES,
  REPLICAS,
  sent,
  startOld,
  withTable,
} from './edited-pipes.ts'

/* What of a change waits, and for what: and that nothing else does. */

const PASSWORD = 'source.kafka.credentials.password'
const REGISTRY = 'edited/source-kafka-schemaRegistry-credentials-password'

describe('a secret that cannot be read', () => {
  test.each([
    { what: 'a size', secret: 'edited/source-kafka-credentials-password', before: KAFKA, after: REPLICAS },
    {
      what: 'tables',
      secret: 'edited/source-postgres-credentials-password',
      before: POSTGRES,
      after: withTable('invoices'),
    },
    {
      what: 'other credentials, of which it is no part',
      secret: REGISTRY,
      before: KAFKA,
      after: having(KAFKA, { [PASSWORD]: 'another-one' }),
    },
  ])('does not keep $what from being changed', async ({ secret, before, after }) => {
    await using client = await startOld(before)
    await client.want(after)
    client.mounted.delete(secret)
    await during(client, 5 * MINUTE)
    expect([sent(client).some((one) => one.startsWith('PATCH')), client.reason()]).toEqual([true, 'InSync'])
  })

  test('keeps credentials of which it is a part, and names it alone', async () => {
    await using client = await startOld(KAFKA)
    const endpoints = ['0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11']
    await client.want(having(KAFKA, { 'source.kafka.reversePrivateEndpointIds': endpoints }))
    client.mounted.delete(REGISTRY)
    client.mounted.delete('edited/source-kafka-credentials-password')
    await during(client, 5 * MINUTE)
    expect([sent(client), client.reason()]).toEqual([[], 'SecretUnavailable'])
    expect(client.message()).toContain('edited/source-kafka-credentials-password')
    expect(client.message()).not.toContain(REGISTRY)
  })
})
