import { describe, expect, test } from 'vitest'
import { withSecrets } from '../../src/kinds/secret-ref.ts'
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import { BREAKAGES } from './broken.ts'
import { fieldAt, withAt, writtenOf, type Steps } from './edits.ts'
import { clientFindings, desiredBody, GIVEN, secretText, type Declared } from './given.ts'
import { pipeFaults } from './rules.ts'

/* What the facts call wrong is refused twice: by the client before anything is sent, and by a service that knows the facts alone. */

const pipes = GIVEN.map(({ manifest }) => manifest).filter(({ kind }) => kind === 'Pipe')

function specOf({ spec }: Declared): JsonObject {
  return spec as unknown as JsonObject // it came as YAML
}

function withSpec(manifest: Declared, spec: Json): Declared {
  return { ...manifest, spec } as unknown as Declared // it may be broken
}

/** As somebody would send it who checks nothing. */
function unchecked({ metadata, spec }: Declared): JsonObject {
  const { service: _, ...rest } = spec as unknown as JsonObject // it may be broken
  return withSecrets({ name: metadata.name, ...rest }, secretText)
}

/** A pipe that has the field, and where; `name` is made of metadata unless it is set. */
function pipeWith(field: string): { readonly manifest: Declared; readonly steps: Steps } {
  for (const manifest of pipes) {
    const found = writtenOf(specOf(manifest)).find(({ steps }) => fieldAt(steps) === field)
    if (found !== undefined) return { manifest, steps: found.steps }
  }
  return expect.unreachable(`no pipe has ${field}`)
}

/** What the client warns of, or takes as it is, where the facts have a format and nobody saw it refused. */
const LENIENT = ['source.kafka.topics']

describe('a field that is not what its row says', () => {
  test('by each of its rules', () => {
    for (const { field, what, value } of BREAKAGES) {
      if (field === 'name' && what === 'needed') continue
      const { manifest, steps } = pipeWith(field)
      const broken = withSpec(manifest, withAt(specOf(manifest), steps, value))
      const row = `${field}: ${what}: ${JSON.stringify(value)}`
      expect.soft(pipeFaults(unchecked(broken)), row).toContainEqual({ field, rule: what })
      const isLenient = LENIENT.includes(field) && what === 'format'
      expect.soft(clientFindings('Pipe', broken).length === 0, row).toBe(isLenient)
    }
  })

  test('or that is not there at all', () => {
    const places = pipes.flatMap((manifest) =>
      [{ steps: [], value: specOf(manifest) }, ...writtenOf(specOf(manifest))]
        .filter(({ value }) => isObject(value) && !('secretRef' in value))
        .map(({ steps }) => withSpec(manifest, withAt(specOf(manifest), [...steps, 'notThere'], 'a'))),
    )
    const taken = places.filter(
      (broken) =>
        clientFindings('Pipe', broken).length === 0 ||
        pipeFaults(unchecked(broken)).every(({ rule }) => rule !== 'unknown field'),
    )
    expect(places.length).toBeGreaterThan(100)
    expect(taken).toEqual([])
  })
})

/** Where the client takes what it does not know, and a service that knows only the facts does not. */
const OPEN = [
  'source.kafka.brokers: format', // a host without a port is warned of
  'source.kafka.topics: format', // a part may be empty
  'source.postgres.host: format', // it has a comma
  'source.mysql.host: format',
  'source.objectStorage.queueUrl: format', // it is a URL, of whatever
]

const TEXTS = ['', 'x y', 'gs://b/x', 'https://x.test/y', 'a,,b', '2026-01-01T00:00', '2026-01-01T00:00:00Z']
const NUMBERS = [0, -1, 1, 1.5, 300, 1e12]
const LISTS: readonly Json[] = [[], [''], ['a'], ['a', 'a'], [{}]]
const VALUES: readonly (Json | undefined)[] = [
  undefined,
  null,
  true,
  false,
  {},
  { a: 1 },
  ...TEXTS,
  ...NUMBERS,
  ...LISTS,
]

test('whatever is changed in one place of a pipe, what the client takes the service takes', () => {
  const tried = new Set<string>()
  const edited = pipes.flatMap((manifest) =>
    writtenOf(specOf(manifest))
      .filter(({ steps }) => !tried.has(fieldAt(steps)) && tried.add(fieldAt(steps)))
      .flatMap(({ steps, fact }) =>
        [...VALUES, ...(fact?.words ?? [])].map((value) =>
          withSpec(manifest, withAt(specOf(manifest), steps, value)),
        ),
      ),
  )
  const taken = edited.filter((manifest) => clientFindings('Pipe', manifest).length === 0)
  const refused = taken.flatMap((manifest) =>
    pipeFaults(withSecrets(desiredBody(manifest), secretText)).map(({ field, rule }) => `${field}: ${rule}`),
  )
  expect(taken.length).toBeGreaterThan(500)
  expect([...new Set(refused)].filter((fault) => !OPEN.includes(fault))).toEqual([])
})
