import { expect, test } from 'vitest'
import { createKnownSecrets } from '../../src/platform/known-secrets.ts'
import { createFreshSecrets, createMountedSecrets } from '../../src/platform/secret-store.ts'
import { Secret } from '../../src/lib/secret.ts'

const [OLD, NEW] = ['Hq7kV2xe9Lm4-old', 'Zr5tB8wn3Pc6-new']

test('what a file held before is masked when it is repeated after its rotation, in any form', async () => {
  let value = OLD
  const mounted = createMountedSecrets({ credentialsDir: '/c', secretsDir: '/s' }, () =>
    Promise.resolve({ found: true, value: new Secret(value) }),
  )
  const secrets = createFreshSecrets(mounted, { monotonic: () => 0 })
  await secrets.readFile('/c/a/token')
  value = NEW
  secrets.forget()
  await secrets.read({ name: 'kafka', key: 'password' }, 'source')
  const text = `not ${OLD} but ${Buffer.from(NEW).toString('base64url')}`
  expect(secrets.known.echoes(text)).toBe('not [secret] but [secret]')
  expect(secrets.known.isOne(OLD.toUpperCase())).toBe(false)
  expect(secrets.known.isOne(OLD)).toBe(true)
})

test('names and single words are not masked in what others say', () => {
  const known = createKnownSecrets()
  for (const value of ['reader', 'svc-orders-01', 'orders', 'ab']) known.note(new Secret(value))
  const text = 'the reader of orders is svc-orders-01, ab'
  expect(known.echoes(text)).toBe(text)
})

test('what a manifest writes out under a sensitive name is masked in what others say, once it was sent', () => {
  const known = createKnownSecrets()
  const text = 'somebody sent kusr-Dj5vSn1Mo8RyHi and orders'
  expect(known.echoes(text)).toBe(text)
  known.noteSent('{"name": "orders", "source": {"username": "kusr-Dj5vSn1Mo8RyHi"}}', [])
  expect(known.echoes(text)).toBe('somebody sent [secret] and orders')
})

test('the end of a text is no secret because some secret begins so', () => {
  const known = createKnownSecrets()
  known.note(new Secret('base-9Qf2mVx7'))
  expect(known.echoes('destination.database')).toBe('destination.database')
})

test('of very many, the ones that were read last are remembered, and those in use', () => {
  const known = createKnownSecrets()
  const secrets = Array.from({ length: 2_000 }, (_, at) => `s${at}-Qz8Lm3Vx7Kw${at}`)
  for (const secret of secrets) {
    known.note(new Secret(OLD))
    known.note(new Secret(secret))
  }
  expect(known.echoes(OLD)).toBe('[secret]')
  expect(known.echoes(secrets.at(-1) ?? '')).toBe('[secret]')
  expect(known.isOne(secrets[0] ?? '')).toBe(false)
})
