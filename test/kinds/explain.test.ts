import { PROFILES } from '../../src/kinds/profiles/profiles.ts'
import { schemaOf, type Profile } from '../../src/kinds/profile.ts'
import { z } from '../../src/kinds/zod.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { describe, expect, test } from 'vitest'
import {
  explainKind,
  findField,
  withFields,
  type FieldFacts,
} from '../../src/cli/commands/explain-command.ts'
import { MANIFEST_KINDS } from '../../src/kinds/lookup.ts'

function at(path: string): FieldFacts {
  const found = findField(DEFAULT, path)
  if ('meant' in found) throw new Error(`there is no ${path}`)
  return found.field
}

describe.each(PROFILES)('with profile $name, every field', (profile) => {
  const kinds = MANIFEST_KINDS.flatMap((name) => explainKind(profile, name) ?? [])

  test('has a meaning, and says whether it is compared', () => {
    const wrong = kinds
      .flatMap(withFields)
      .filter(({ meaning, type, compared }) => !/^[A-Z].*\.$/.test(meaning) || type === '' || compared === '')
    expect(wrong.map(({ path }) => path)).toEqual([])
  })

  test('has a right example, if any', () => {
    const examples = kinds.flatMap(withFields).filter(({ example }) => example !== undefined)
    const wrong = examples.filter(({ path, example }) => !schemaAt(profile, path).safeParse(example).success)
    expect(examples.length).toBeGreaterThan(20)
    expect(wrong.map(({ path }) => path)).toEqual([])
  })
})

function schemaAt(profile: Profile, path: string): z.ZodType {
  const [kind = '', ...steps] = path.replaceAll('[]', '').split('.')
  let schema: z.ZodType | undefined = schemaOf(profile, kind)
  for (const step of steps) {
    schema = bare(schema)
    if (schema instanceof z.ZodArray) schema = bare(schema.element as z.ZodType)
    if (schema instanceof z.ZodUnion)
      schema = schema.options.map((one) => bare(one as z.ZodType)).find((one) => one instanceof z.ZodObject)
    schema = schema instanceof z.ZodObject ? (schema.shape[step] as z.ZodType) : undefined
  }
  if (schema === undefined) throw new Error(`there is no ${path}`)
  return schema
}

function bare(schema: z.ZodType | undefined): z.ZodType | undefined {
  return schema instanceof z.ZodOptional ? bare(schema.unwrap() as z.ZodType) : schema
}

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
    ['alert.spec.id', { compared: 'no: it selects the resource to read' }],
    ['alert.spec.expect.createdAt', { compared: 'yes, by instant' }],
    ['queryendpoint.spec.allowedOrigins', { compared: 'yes, in any order' }],
    ['service.spec.serviceId', { compared: 'no: not created', type: 'UUID' }],
    ['lock.spec.pipes', { type: 'mapping', isRequired: true }],
  ])('%s', (path, facts) => {
    expect(at(path)).toMatchObject(facts)
  })

  test.each<[string, readonly string[]]>([
    ['pip.spec', ['Pipe.spec']],
    ['pipe.spec.sorce', ['Pipe.spec.source']],
    ['pipe.spec.source.kafka.brokrs', ['Pipe.spec.source.kafka.brokers']],
    ['pipe.brokers', ['Pipe.spec.source.kafka.brokers']],
    ['scaling', ['Pipe.spec.scaling']],
    ['nothing.like.it', []],
    ['', []],
  ])('%s is not there; %j is meant', (path, meant) => {
    expect(findField(DEFAULT, path)).toEqual({ meant })
  })

  test('that ends several paths means each of them', () => {
    const found = findField(DEFAULT, 'policy.interval')
    expect('meant' in found ? found.meant : []).toEqual([
      'Pipe.policy.interval',
      'QueryEndpoint.policy.interval',
      'Alert.policy.interval',
    ])
  })
})
