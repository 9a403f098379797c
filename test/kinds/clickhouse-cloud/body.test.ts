import { expect, test } from 'vitest'
import { compareBody } from '../../../src/kinds/compare-body.ts'
import { brokenRules, pemRules } from '../../../src/kinds/profiles/clickhouse-cloud/pipe/field-rules.ts'
import { PIPE } from '../../../src/kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import { mongodbRules } from '../../../src/kinds/profiles/clickhouse-cloud/pipe/sources/mongodb.ts'
import { objectStorageRules } from '../../../src/kinds/profiles/clickhouse-cloud/pipe/sources/object-storage.ts'
import { cpuMsOf } from '../../support/cpu.ts'
import type { PipeManifest } from '../../../src/kinds/profiles/clickhouse-cloud/pipe/schema.ts'

function bodyWith(destination: object) {
  const spec = { service: 'svc', name: 'p', source: {}, destination }
  return PIPE.body({ metadata: { name: 'p' }, spec } as unknown as PipeManifest)
}

function bodyOfAddress(uri: string) {
  return { source: { mongodb: { uri } } }
}

test.each([
  [{ table: 't' }, { database: 'default', table: 't' }],
  [{}, { database: 'default' }],
  [{ database: 'sales' }, { database: 'sales' }],
])('a destination %j is sent as %j', (destination, sent) => {
  expect(bodyWith(destination)).toMatchObject({ destination: sent })
})

test.each([
  ['mongodb://[REDACTED]@a,b/d', 0],
  ['mongodb://a,b/d', 0],
  ['mongodb://u@a,c/d', 1],
  ['mongodb+srv://u@a,b/d', 1],
])('the address mongodb://u@a,b/d compared with %s has %i differences', (uri, count) => {
  const differences = compareBody(PIPE.fields, bodyOfAddress('mongodb://u@a,b/d'), bodyOfAddress(uri))
  expect(differences).toHaveLength(count)
})

test('an address of 300 kB is checked for a password in no more time than its length needs', () => {
  const rules = mongodbRules({} as never).flat()
  const uri = `mongodb://${':'.repeat(40_000)}${'a'.repeat(300_000)}`
  expect(cpuMsOf(() => brokenRules(rules, { uri }, ['spec']))).toBeLessThan(1_000)
  for (const [address, count] of [
    ['mongodb://u:p@a/', 1],
    ['mongodb+srv://u:@a/', 1],
    ['mongodb://u@a:1/', 0],
    ['mongodb://u:a/b@h', 1],
    ['mongodb://u@b.example:12/3@h/d', 1],
    ['mongodb://a/?proxyHost=b&proxyPassword=c', 1],
    ['mongodb://a/?tlsCertificateKeyFilePassword=c', 1],
    ['mongodb://a/?authMechanismProperties=X:1,AWS_SESSION_TOKEN:c', 1],
    ['mongodb://u@a:1,b:2/d?appName=a@b&tls=true', 0],
    ['mongodb://[::1]:1/?appName=a@b', 0],
  ] as const)
    expect(brokenRules(rules, { uri: address }, ['spec']), address).toHaveLength(count)
})

test.each([
  ['https://u:p@a.example/*.json', 1],
  ['https://u:a/b@a.example/*.json', 1],
  ['gs://u:1@bucket/x', 1],
  ['https://a.example:9000/a@b/c:d@e.json', 0],
  ['https://[::1]:9000/a@b.json', 0],
  ['gs://bucket/a:b@c.json', 0],
])('the URL %s of objects has %i passwords', (url, count) => {
  const rules = objectStorageRules({ type: 'gcs' } as never).flat()
  const passwords = brokenRules(rules, { url, type: 'gcs' }, ['spec']).filter(({ message }) =>
    message.includes('holds'),
  )
  expect(passwords).toHaveLength(count)
})

test.each([
  ['-----BEGIN CERTIFICATE-----', 0],
  ['-----BEGIN PRIVATE KEY-----', 1],
  ['# CA\n-----BEGIN CERTIFICATE-----\n-----BEGIN EC PRIVATE KEY-----', 1],
])('a CA certificate %j has %i private keys', (caCertificate, count) => {
  expect(brokenRules(pemRules('caCertificate'), { caCertificate }, ['spec'])).toHaveLength(count)
})
