import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { kindJsonSchema, manifestJsonSchema } from '../../src/kinds/json-schema.ts'
import { MANIFEST_KINDS } from '../../src/kinds/lookup.ts'
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import { FULL_ALERT, FULL_ENDPOINT, FULL_LOCK, FULL_SERVICE, fullPipe, SOURCE_KINDS } from './manifests.ts'

function objectsIn(schema: Json | undefined, path: string): readonly (readonly [string, JsonObject])[] {
  if (Array.isArray(schema)) {
    return schema.flatMap((item: Json, index) => objectsIn(item, `${path}/${index}`))
  }
  if (!isObject(schema)) return []
  const below = Object.keys(schema).flatMap((name) => objectsIn(schema[name], `${path}/${name}`))
  return [[path, schema], ...below]
}

describe('the JSON Schema', () => {
  test('is draft-07 and has one alternative a kind', () => {
    const schema = manifestJsonSchema(DEFAULT)
    expect(schema['$schema']).toBe('http://json-schema.org/draft-07/schema#')
    const alternatives = Array.isArray(schema['oneOf']) ? schema['oneOf'] : []
    expect(alternatives.map((one: JsonObject) => one['title'])).toEqual(MANIFEST_KINDS)
  })

  test('has patterns that tools in Go can read: no lookahead, no lookbehind, no reference back', () => {
    const texts = JSON.stringify(manifestJsonSchema(DEFAULT)).match(/"pattern":"(?:[^"\\]|\\.)*"/g) ?? []
    expect(texts.length).toBeGreaterThan(5)
    expect(texts.filter((text) => /\(\?(?:[=!]|<[=!])|\\\\[1-9]/.test(text))).toEqual([])
  })

  test.each(MANIFEST_KINDS)('of %s is closed everywhere, and says what each field is', (kind) => {
    for (const [path, schema] of objectsIn(kindJsonSchema(DEFAULT, kind) ?? {}, kind)) {
      if (!isObject(schema['properties'])) continue
      expect([path, schema['additionalProperties']]).toEqual([path, false])
      const silent = Object.entries(schema['properties']).filter(
        ([name, field]) =>
          !['apiVersion', 'kind', 'metadata', 'policy', 'spec', 'secretRef'].includes(name) &&
          isObject(field) &&
          field['description'] === undefined,
      )
      expect([path, silent.map(([name]) => name)]).toEqual([path, []])
    }
  })

  const schema = z.fromJSONSchema(manifestJsonSchema(DEFAULT))
  const full = [...SOURCE_KINDS.map(fullPipe), FULL_SERVICE, FULL_ENDPOINT, FULL_ALERT, FULL_LOCK]

  test.each(full)('accepts a full manifest of $kind', (manifest) => {
    expect(schema.safeParse(manifest).error?.issues).toBeUndefined()
  })

  test.each<readonly [why: string, manifest: object]>([
    ['an unknown kind', { ...FULL_SERVICE, kind: 'Pip' }],
    ['an unknown field at the top', { ...FULL_SERVICE, status: {} }],
    ['an unknown field in the middle', { ...FULL_ALERT, spec: { id: '1', expect: { nam: 'a' } } }],
    ['a missing name', { ...FULL_LOCK, metadata: {} }],
    [
      'a secret that is written out',
      {
        ...fullPipe('kafka'),
        spec: { service: 'a', source: { kafka: { credentials: { password: 'hunter2' } } } },
      },
    ],
  ])('refuses %s', (_, manifest) => {
    expect(schema.safeParse(manifest).success).toBe(false)
  })
})
