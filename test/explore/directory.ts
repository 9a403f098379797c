import { keyOf, type Key } from '../../src/kinds/key.ts'
import type { Catalog } from '../../src/contract/catalog.ts'
import type { Profile } from '../../src/kinds/profile.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { ParsedFile } from '../../src/manifest/validate/parse-file.ts'
import { recordedAs } from '../manifest/support.ts'
import { createModelDirectory, createReader } from '../reconcile/model-directory.ts'
import { endpoint, lock, pipe, service } from '../reconcile/manifests.ts'
import { bodyOfValues, valuesOf } from './life.ts'
import { keyOfWish, type Model, type Wish } from './model.ts'

/* The manifests of a model, and what Pipewright makes of them: the real parser, the real catalog. */

/** An end that no story reaches. */
const FOREVER = '2027-01-01T00:00:00Z'
const SUSPEND = { reason: 'a test', until: FOREVER }

const parsed = new Map<string, Map<string, ParsedFile>>()
const catalogs = new Map<string, Catalog>()
const MOST_CATALOGS = 20_000

/** What a process that has read the directory knows. */
export function catalogOf(model: Model, profile: Profile): Catalog {
  const known = new Set<Key>([...model.records.keys(), ...model.wishes.map(keyOfWish)])
  if (model.endpoint !== undefined) known.add(keyOf('QueryEndpoint', 'one'))
  const name = JSON.stringify([
    profile.name,
    model.wishes,
    [model.endpoint, model.services, model.isServiceFlawed, model.lock, model.isLockBroken],
    [...known].toSorted(),
    model.memory.knowsServices,
  ])
  const before = catalogs.get(name)
  if (before !== undefined) return before
  const catalog = read(model, known, profile)
  if (catalogs.size >= MOST_CATALOGS) catalogs.clear()
  catalogs.set(name, catalog)
  return catalog
}

function read(model: Model, known: ReadonlySet<Key>, profile: Profile): Catalog {
  const cache = parsed.get(profile.name) ?? new Map<string, ParsedFile>()
  parsed.set(profile.name, cache)
  const directory = createModelDirectory(cache, profile)
  const reader = createReader(directory)
  const keys = new Map([...known].map((key) => [key, recordedAs(undefined)]))
  const knowsService = model.isServiceFlawed && model.memory.knowsServices
  if (knowsService || model.wishes.some(({ isKnown }) => isKnown === true)) {
    const wishes = model.wishes.map((wish) => ({
      ...wish,
      isFlawed: wish.isFlawed === true && wish.isKnown !== true,
    }))
    const isServiceFlawed = model.isServiceFlawed && !knowsService
    for (const [file, text] of filesOf({ ...model, wishes, isServiceFlawed })) directory.files.set(file, text)
    reader.read(keys)
  }
  directory.files.clear()
  for (const [file, text] of filesOf(model)) directory.files.set(file, text)
  // What is gone is believed to be gone after three readings.
  reader.read(keys)
  reader.read(keys)
  return reader.read(keys).catalog
}

function filesOf(model: Model): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const [name, serviceId] of Object.entries(model.services))
    files.set(`service-${name}.yaml`, model.isServiceFlawed ? '{"kind": "Service"' : service(name, serviceId))
  for (const wish of model.wishes) if (wish.isPresent) files.set(`${wish.name}.yaml`, textOf(wish))
  if (model.endpoint?.isPresent === true) {
    const { isSuspended, origins } = model.endpoint
    const policy: JsonObject = isSuspended ? { suspend: SUSPEND } : {}
    files.set('endpoint.yaml', endpoint('one', { service: 'one', allowedOrigins: origins }, policy))
  }
  if (model.isLockBroken) files.set('pipes.lock.yaml', '<<<<<<< HEAD\n')
  else if (Object.keys(model.lock).length > 0) files.set('pipes.lock.yaml', lock(model.lock))
  return files
}

function textOf(all: Wish): string {
  const { name, platformName, topics, service: of, isSuspended, ...wish } = all
  const policy: JsonObject = {
    ...wish.policy,
    ...(wish.isPaused === undefined ? {} : { paused: wish.isPaused }),
    ...(isSuspended ? { suspend: SUSPEND } : {}),
    ...(wish.dependsOn === undefined ? {} : { dependsOn: [wish.dependsOn] }),
  }
  const more: JsonObject = {
    ...bodyOfValues(name, valuesOf(all)),
    ...(wish.isFlawed === true ? { unknown: 1 } : {}),
  }
  return pipe(name, { service: of, platformName, topics, policy, more })
}
