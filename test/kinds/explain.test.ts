import { PROFILES } from '../../src/kinds/profiles/profiles.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { describe, expect, test } from 'vitest'
import { explainKind, explainPath, withFields, type FieldFacts } from '../../src/kinds/explain.ts'
import { isResource, MANIFEST_KINDS } from '../../src/kinds/lookup.ts'
import { rulesOf, schemaOf } from '../../src/kinds/profile.ts'

function at(path: string): FieldFacts {
  const found = explainPath(DEFAULT, path)
  if ('nearest' in found) throw new Error(`there is no ${path}`)
  return found
}

describe.each(PROFILES)('with profile $name, every field', (profile) => {
  const kinds = MANIFEST_KINDS.flatMap((name) => explainKind(profile, name) ?? [])

  test.each(kinds.flatMap(withFields).map((field) => [field.path, field] as const))(
    '%s has a meaning, an example, and says whether it is compared',
    (_path, { meaning, example, compared, type }) => {
      expect(meaning).toMatch(/^[A-Z].*\.$/)
      expect([meaning, type, compared]).not.toContain('')
      expect(example).not.toEqual({})
      expect(example).not.toBeUndefined()
    },
  )

  test.each(kinds.map((kind) => [kind.name, kind] as const))(
    'the example of a %s as a whole is a right one',
    (name, kind) => {
      const read = schemaOf(profile, name)?.safeParse(kind.example)
      expect(read?.error).toBeUndefined()
      const manifest = read?.data
      expect(isResource(manifest) ? rulesOf(profile, manifest) : []).toEqual([])
    },
  )
})

describe('a path', () => {
  test.each([
    ['pipe.spec.source.kafka.brokers', { compared: 'yes, in any order', type: 'text', isRequired: false }],
    [
      'Pipe.spec.destination.columns.name',
      { path: 'Pipe.spec.destination.columns[].name', isRequired: true },
    ],
    ['Pipe.spec.destination.columns[0].type', { compared: 'yes' }],
    ['pipe.spec.source.kafka.credentials.password', { isSensitive: true, type: 'reference to a secret' }],
    ['pipe.spec.destination.roles', { compared: 'no: the platform does not return it' }],
    ['pipe.spec.service', { compared: 'no: it is not sent' }],
    ['pipe.policy.onMissing', { allowed: ['recreate', 'report'], compared: 'no: it is not sent' }],
    ['alert.spec.id', { compared: 'no: it says which one is read' }],
    ['alert.spec.expect.createdAt', { compared: 'yes, by instant' }],
    ['queryendpoint.spec.allowedOrigins', { compared: 'yes, in any order' }],
    ['service.spec.serviceId', { compared: 'no: nothing is created of it', type: 'UUID' }],
    ['lock.spec.pipes', { type: 'mapping', isRequired: true }],
  ])('%s', (path, facts) => {
    expect(at(path)).toMatchObject(facts)
  })

  test.each([
    ['pip.spec', 'Pipe'],
    ['pipe.spec.sorce', 'Pipe.spec.source'],
    ['pipe.spec.source.kafka.brokrs', 'Pipe.spec.source.kafka.brokers'],
    ['pipe.spec.service.name', undefined],
    ['policy.interval', 'Pipe.policy.interval'],
    ['scaling', 'Pipe.spec.scaling'],
  ])('%s is not there; near is %s', (path, nearest) => {
    expect(explainPath(DEFAULT, path)).toEqual({ nearest })
  })
})
