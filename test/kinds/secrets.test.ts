import { describe, expect, test } from 'vitest'
import { isSensitiveName, withoutSecrets } from '../../src/lib/sensitive.ts'
import { maskManifest, maskSensitive, maskText } from '../../src/kinds/mask.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { PipeManifest } from '../../src/kinds/profiles/default/pipe/schema.ts'
import { secretRefsIn, withSecrets } from '../../src/kinds/secret-ref.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { fullPipe, ref, SOURCES } from './manifests.ts'
import { cpuMsOf } from '../support/cpu.ts'

const kafkaBody = PIPE.body(PipeManifest.parse(fullPipe('kafka')))

describe('references in a body', () => {
  test('are found with their paths, in order', () => {
    expect(secretRefsIn(kafkaBody)).toEqual([
      { path: 'source.kafka.caCertificate', ref: { name: 'kafka', key: 'ca.crt' } },
      { path: 'source.kafka.credentials.password', ref: { name: 'kafka', key: 'password' } },
      { path: 'source.kafka.credentials.username', ref: { name: 'kafka', key: 'username' } },
      { path: 'source.kafka.schemaRegistry.credentials.password', ref: { name: 'kafka', key: 'password' } },
      { path: 'source.kafka.schemaRegistry.credentials.username', ref: { name: 'kafka', key: 'username' } },
    ])
  })

  test('are replaced, and nothing else is', () => {
    const body = withSecrets(kafkaBody, (path) => `<${path}>`)
    const { source, ...rest } = kafkaBody
    const { kafka } = SOURCES
    expect(body).toEqual({
      ...rest,
      source: {
        validateSamples: true,
        kafka: {
          ...kafka,
          caCertificate: '<source.kafka.caCertificate>',
          credentials: {
            username: '<source.kafka.credentials.username>',
            password: '<source.kafka.credentials.password>',
          },
          schemaRegistry: {
            ...kafka.schemaRegistry,
            credentials: {
              username: '<source.kafka.schemaRegistry.credentials.username>',
              password: '<source.kafka.schemaRegistry.credentials.password>',
            },
          },
        },
      },
    })
    expect(secretRefsIn(body)).toEqual([])
    expect(body['destination']).toEqual(kafkaBody['destination'])
    expect(secretRefsIn({ source: source ?? null })).toHaveLength(5)
  })

  test('in lists are found and replaced by their place', () => {
    const body = { list: ['a', { b: ref('c') }] }
    expect(secretRefsIn(body).map(({ path }) => path)).toEqual(['list[1].b'])
    expect(withSecrets(body, () => 's')).toEqual({ list: ['a', { b: 's' }] })
  })

  test('that stand for an empty text are replaced too', () => {
    expect(withSecrets({ password: ref('c') }, () => '')).toEqual({ password: '' })
  })

  test('a body without any stays as it is', () => {
    const body = { a: [{ b: null }], c: { secretRef: 'no reference' } }
    expect(secretRefsIn(body)).toEqual([])
    expect(withSecrets(body, () => 's')).toEqual(body)
  })
})

describe('masking', () => {
  test.each<readonly [why: string, body: JsonObject, shown: JsonObject]>([
    ['references by their names', { password: ref('password') }, { password: '[secret kafka/password]' }],
    [
      'sensitive values that are written out',
      { connectionString: 'hunter2', credentials: { username: 'hunter2', password: ref('p') } },
      {
        connectionString: '[sensitive]',
        credentials: { username: '[sensitive]', password: '[secret kafka/p]' },
      },
    ],
    [
      'whatever a platform echoes in an object of credentials',
      { accessKey: { id: 'hunter2', deep: [{ more: 'hunter2' }] }, credentials: 'hunter2' },
      { accessKey: { id: '[sensitive]', deep: [{ more: '[sensitive]' }] }, credentials: '[sensitive]' },
    ],
    [
      'names like a secret, in any spelling and depth',
      { a: [{ dbPassword: 'hunter2', API_TOKEN: 1, clientSecret: true, PASSWD: 'hunter2' }] },
      {
        a: [
          {
            dbPassword: '[sensitive]',
            API_TOKEN: '[sensitive]',
            clientSecret: '[sensitive]',
            PASSWD: '[sensitive]',
          },
        ],
      },
    ],
    [
      'what is not set stays so, and nothing else is touched',
      { password: null, name: 'a', openApiKeys: ['k'], primaryKey: 'id', reversePrivateEndpointIds: ['r'] },
      { password: null, name: 'a', openApiKeys: ['k'], primaryKey: 'id', reversePrivateEndpointIds: ['r'] },
    ],
    [
      'a column that is called password is a column',
      { columns: [{ name: 'password', type: 'String' }] },
      { columns: [{ name: 'password', type: 'String' }] },
    ],
    [
      'a password in a URL',
      { url: 'https://me:hunter2@x.example/?token=hunter2&a=b' },
      { url: 'https://[sensitive]@x.example/?token=[sensitive]&a=b' },
    ],
  ])('%s', (_, body, shown) => {
    const masked = maskSensitive(body)
    expect(masked).toEqual(shown)
    expect(JSON.stringify(masked)).not.toContain('hunter2')
  })

  test('of a manifest keeps references, and nothing that only looks like one', () => {
    const masked = maskManifest({
      spec: {
        credentials: { secretRef: { name: 'analytics-api' } },
        kafka: {
          username: 'hunter2',
          password: { secretRef: { name: 'kafka', key: 'password' } },
          secretKey: { secretRef: { name: 'kafka', value: 'hunter2' } },
          accessKeyId: { secretRef: 'hunter2' },
        },
      },
    })
    expect(JSON.stringify(masked)).not.toContain('hunter2')
    expect(masked).toMatchObject({
      spec: {
        credentials: { secretRef: { name: 'analytics-api' } },
        kafka: { password: { secretRef: { name: 'kafka', key: 'password' } } },
      },
    })
  })

  test('keeps an own field that is called __proto__ a field', () => {
    const masked = maskSensitive(JSON.parse('{"__proto__": {"password": "hunter2"}}') as JsonObject)
    expect(JSON.stringify(masked)).toBe('{"__proto__":{"password":"[sensitive]"}}')
  })

  test('does not overflow the stack', () => {
    const deep = JSON.parse(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`) as JsonObject
    expect(JSON.stringify(maskSensitive(deep))).toContain('[nested too deep]')
  })

  test.each(['a:', '://', '?', '://a:', '?a', ';sig', ',a:b', '//a'])(
    'a long text of "%s" is masked at once',
    (part) => {
      expect(cpuMsOf(() => maskText(`://=${part.repeat(100_000)}`))).toBeLessThan(2_000)
      expect(cpuMsOf(() => withoutSecrets(`@://=${part.repeat(100_000)}`, '[masked]'))).toBeLessThan(2_000)
    },
  )

  test('no field of the interface but the sensitive ones has a sensitive name', () => {
    const names = ['openApiKeys', 'primaryKey', 'sortingKeys', 'webhookId', 'iamRole', 'partitionBy']
    expect(names.filter(isSensitiveName)).toEqual([])
  })
})
