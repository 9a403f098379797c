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
