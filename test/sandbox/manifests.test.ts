import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { z } from 'zod'
import type { ALERT } from '../../src/kinds/profiles/default/alert/kind.ts'
import type { LockManifest } from '../../src/kinds/lock/schema.ts'
import type { QueryEndpointManifest } from '../../src/kinds/profiles/default/query-endpoint/kind.ts'
import type { ServiceManifest } from '../../src/kinds/service/kind.ts'
import type { PipeManifest } from '../../src/kinds/profiles/default/pipe/schema.ts'
import { SOURCE_KINDS } from '../../src/kinds/profiles/default/pipe/source-schema.ts'
import { isSecretRef } from '../../src/kinds/secret-ref.ts'
import { isObject, type Json } from '../../src/lib/json.ts'
import { createSandbox } from '../../src/sandbox/sandbox-server.ts'
import { readFixture } from '../../src/sandbox/fixture.ts'
import { ask, KEY, TOKEN } from './given.ts'

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const FOLDER = join(ROOT, 'manifests')
const FILES = globSync('**/*.yaml', { cwd: FOLDER })
  .filter((file) => !file.startsWith('.'))
  .toSorted()
const WORLD = join(FOLDER, '.sandbox.yaml')

const manifests = FILES.flatMap((file) =>
  parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8')).map(
    (document) =>
      document.toJS() as
        PipeManifest | ServiceManifest | z.infer<typeof ALERT.schema> | QueryEndpointManifest | LockManifest, // whether it is one is for the tests of manifest/ to say
  ),
)
const pipes = manifests.filter((manifest) => manifest.kind === 'Pipe')
const services = manifests.filter((manifest) => manifest.kind === 'Service')

test('each file tells editors where its schema is', () => {
  for (const file of FILES) {
    const [first] = readFileSync(join(FOLDER, file), 'utf8').split('\n')
    const path = /^# yaml-language-server: \$schema=(.+)$/.exec(first ?? '')?.[1] ?? ''
    const target = relative(ROOT, resolve(FOLDER, dirname(file), path))
    expect.soft(target, file).toBe(join('docs', 'schema', 'manifest.schema.json'))
  }
})

test('every kind and every source is shown', () => {
  const kinds = new Set(manifests.map(({ kind }) => kind))
  expect([...kinds].toSorted()).toEqual(['Alert', 'Lock', 'Pipe', 'QueryEndpoint', 'Service'])
  const sources = new Set(pipes.flatMap(({ spec }) => SOURCE_KINDS.filter((kind) => spec.source[kind])))
  expect(sources.size).toBe(SOURCE_KINDS.length)
})

test('the platform takes every body, and what is there already is where the manifests look for it', async () => {
  const fixture = await readFixture(WORLD, DEFAULT)
  await using sandbox = await createSandbox({ fixture, credentials: [KEY], alertTokens: [TOKEN] })
  const locks = Object.assign(
    {},
    ...manifests.map((manifest) => (manifest.kind === 'Lock' ? manifest.spec.pipes : {})),
  )
  for (const pipe of pipes) {
    const path = pathOf(pipe)
    const id: string | undefined = pipe.policy?.adopt ?? locks[`Pipe/${pipe.metadata.name}`]
    const { service: _ours, ...body } = pipe.spec
    // one after the other, so that they fail in the order of the files
    const got = await (id === undefined
      ? ask(sandbox, path, { body: asSent({ name: pipe.metadata.name, ...body }) })
      : ask(sandbox, `${path}/${id}`))
    expect(got.body).toMatchObject({ status: 200, result: { name: pipe.spec.name ?? pipe.metadata.name } })
  }
  for (const manifest of manifests) {
    if (manifest.kind !== 'Alert') continue
    const got = await ask(sandbox, `/api/v2/alerts/${manifest.spec.id}`)
    expect(got.body.data).toMatchObject(manifest.spec.expect ?? {})
  }
})

test('the fixture names exactly one thing that is wrong with a pipe and one alert that fires', async () => {
  const fixture = await readFixture(WORLD, DEFAULT)
  const stock = pipes.find(({ metadata }) => metadata.name === 'warehouse-stock')
  const there = fixture.pipes.find(({ id }) => id === stock?.policy?.adopt)
  expect(stock?.spec.scaling).toEqual({ replicas: 3 })
  expect(there).toMatchObject({ name: 'warehouse-stock', scaling: { replicas: 2 } })
  expect(fixture.alerts.filter(({ state }) => state !== 'OK')).toHaveLength(1)
  expect(fixture.credentials).toEqual([])
  expect(fixture.alertTokens).toEqual([])
})

test.each(services.map((service) => [service.metadata.name, service.spec.credentials.secretRef.name]))(
  'the first pass of %s stays within eight requests',
  (service, credentials) => {
    const ours = pipes.filter(({ spec }) => spec.service === service)
    const awake = ours.filter(({ policy }) => policy?.suspend === undefined)
    // one to create or adopt each, two more until a state is healthy
    const watched = awake.filter(({ policy }) => policy?.healthyStates !== undefined)
    const endpoints = manifests.filter((one) => one.kind === 'QueryEndpoint' && one.spec.service === service)
    expect(awake.length + 2 * watched.length + endpoints.length).toBeLessThanOrEqual(8)
    const sharing = services.filter(({ spec }) => spec.credentials.secretRef.name === credentials)
    expect(sharing).toHaveLength(1)
  },
)

test('the fixture file is not taken for a manifest', () => {
  expect(existsSync(WORLD)).toBe(true)
  expect(FILES.filter((file) => file.split('/').some((name) => name.startsWith('.')))).toEqual([])
})

function pathOf(pipe: PipeManifest): string {
  const service = services.find(({ metadata }) => metadata.name === pipe.spec.service)
  return `/v1/organizations/${service?.spec.organizationId}/services/${service?.spec.serviceId}/pipes`
}

/** A body with a made-up text for each reference. */
function asSent(value: Json): Json {
  if (isSecretRef(value)) return 'made-up'
  if (Array.isArray(value)) return value.map(asSent)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, asSent(member ?? null)]))
}
