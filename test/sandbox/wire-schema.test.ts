import { expect, test } from 'vitest'
import { PipeSpec } from '../../src/kinds/profiles/default/pipe/schema.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { z } from '../../src/kinds/zod.ts'
import { bodyShape } from '../../src/sandbox/wire-schema.ts'

const PipeRequest = z.strictObject(bodyShape(PIPE))

const REF = { secretRef: { name: 'a', key: 'b' } }
const user = (secret: unknown) => ({ username: secret, password: secret })
const key = (secret: unknown) => ({ accessKeyId: secret, secretKey: secret })

/** Every place where a manifest takes a reference, as a source. */
const SOURCES: readonly (readonly [string, (secret: unknown) => object])[] = [
  ['kafka.credentials', (secret) => ({ kafka: { credentials: user(secret) } })],
  ['kafka.caCertificate', (secret) => ({ kafka: { caCertificate: secret } })],
  [
    'kafka.schemaRegistry',
    (secret) => ({ kafka: { schemaRegistry: { caCertificate: secret, credentials: user(secret) } } }),
  ],
  ['objectStorage', (secret) => ({ objectStorage: { connectionString: secret, accessKey: key(secret) } })],
  ['managedStream', (secret) => ({ managedStream: { accessKey: key(secret) } })],
  ['postgres', (secret) => ({ postgres: { credentials: user(secret) } })],
]

test.each(SOURCES)('%s: a reference in a manifest is a text on the wire', (_where, source) => {
  const manifest = { service: 's', source: source(REF) }
  const request = (secret: unknown) => ({ name: 'n', source: source(secret) })
  expect(PipeSpec.safeParse(manifest).success).toBe(true)
  expect(PipeRequest.safeParse(request('text')).success).toBe(true)
  expect(PipeRequest.safeParse(request(REF)).success).toBe(false)
  expect(PipeRequest.safeParse(request('')).success).toBe(false)
})

test('the checks of the parts are those of the manifest', () => {
  const source = { kafka: {} }
  expect(problems({ name: 'n', source })).toBeUndefined()
  expect(problems({ name: 'n', source: { postgres: { port: 70_000 } } })).toEqual(['source.postgres.port'])
  expect(
    problems({ name: 'n', source: { kafka: { offset: { timestamp: '2026-01-01T00:00:00Z' } } } }),
  ).toEqual(['source.kafka.offset.timestamp'])
  expect(problems({ name: 'n', source, settings: { db_max_threads: -1 } })).toEqual([
    'settings.db_max_threads',
  ])
})

function problems(pipe: object): readonly string[] | undefined {
  return PipeRequest.safeParse(pipe).error?.issues.map(({ path }) => path.join('.'))
}
