import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { describe, expect, test } from 'vitest'
import {
  CHART,
  EVERYTHING,
  HELMS,
  objectOf,
  objectsIn,
  overlay,
  parentChart,
  renderValues,
  tryValues,
  validated,
} from './support/chart.ts'
import { folderForFile } from '../support/folders.ts'

/* A value whose lines are all commented out is null, and so is one that an older release did not have (`--reuse-values`). */

interface ValueSchema {
  readonly type?: string | readonly string[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, ValueSchema>>
}

const SCHEMA = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as ValueSchema
const DEFAULTS: unknown = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'))

interface Place {
  readonly path: readonly string[]
  readonly isRequired: boolean
  readonly isGroup: boolean
}

/** Every value that has a default. */
function placesIn(schema: ValueSchema, defaults: unknown, before: readonly string[] = []): readonly Place[] {
  return Object.entries(defaults as Readonly<Record<string, unknown>>).flatMap(([name, value]) => {
    const inner = schema.properties?.[name] ?? {}
    const path = [...before, name]
    const isGroup = inner.properties !== undefined && Object.keys(value ?? {}).length > 0
    const below = isGroup ? placesIn(inner, value, path) : []
    return [{ path, isRequired: schema.required?.includes(name) === true, isGroup }, ...below]
  })
}

const PLACES = placesIn(SCHEMA, DEFAULTS)

/** What is nothing without it: each has a message of its own. */
const NEEDED = [
  'platform.baseUrl',
  'source.git.repository',
  'ingress.hosts',
  'httpRoute.hostnames',
  'httpRoute.parentRefs',
  'networkPolicy.people',
]

const FREE = PLACES.filter(
  ({ path, isRequired }) => !isRequired && path.at(-1) !== 'enabled' && !NEEDED.includes(path.join('.')),
)
const LEAVES = FREE.filter(({ isGroup }) => !isGroup)
const GROUPS = FREE.filter(({ isGroup }) => isGroup)
const REQUIRED = PLACES.filter(({ isRequired }) => isRequired)

function nullAt(places: readonly Place[]): object {
  return places
    .map(({ path }) => path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), null) as object) // a path has a name
    .reduce(overlay, {})
}

const folder = folderForFile()

describe.each(HELMS)('values that are null, %s', (helm) => {
  test.each([
    ['a single one of each', LEAVES],
    ['whole groups', GROUPS],
  ])('are as if they were not set: %s', async (_what, places) => {
    expect(places).not.toHaveLength(0)
    const values = overlay(EVERYTHING, nullAt(places))
    const rendered = await validated(folder, await renderValues(folder, values, { helm }))
    for (const object of objectsIn(rendered)) {
      const { data: _texts, ...rest } = object
      expect(JSON.stringify(rest).replace('"egress":null', 'no way out')).not.toContain('null')
    }
  })

  test.each([
    { what: 'single ones', places: REQUIRED.filter(({ isGroup }) => !isGroup) },
    ...[1, 2, 3].map((depth) => ({
      what: `groups at level ${depth}`,
      places: REQUIRED.filter(({ isGroup, path }) => isGroup && path.length === depth),
    })),
  ])('are refused by name where there is no pod without: $what', async ({ places }) => {
    expect(places).not.toHaveLength(0)
    const { code, stderr } = await tryValues(folder, overlay(EVERYTHING, nullAt(places)), { helm })
    expect(code).not.toBe(0)
    for (const { path } of places) {
      const at = path.length === 1 ? "at ''" : `at '/${path.slice(0, -1).join('/')}'`
      expect(stderr).toMatch(new RegExp(`${at}: missing propert(y|ies) .*'${path.at(-1)}'`))
    }
  })

  test('are as if they were not set, also from a parent chart', async () => {
    const chart = parentChart(folder)
    const global = { imageRegistry: null, imagePullSecrets: null }
    const pipewright = overlay(EVERYTHING, nullAt(LEAVES))
    const resources = { limits: { memory: null, 'ephemeral-storage': '1Gi' } }
    const own = overlay(pipewright, { resources })
    const rendered = await renderValues(folder, { global, pipewright: own }, { helm, chart })
    const daemon = JSON.stringify(objectOf(rendered, 'StatefulSet'))
    expect(daemon).toContain('"limits":{"ephemeral-storage":"1Gi"}')
    expect(daemon).not.toContain('null')
  })
})
