import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { compareBody } from '../../src/kinds/compare-body.ts'
import { importedManifest } from '../../src/kinds/imported.ts'
import { PIPE } from '../../src/kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import type { PipeManifest } from '../../src/kinds/profiles/clickhouse-cloud/pipe/schema.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/clickhouse-cloud/profile.ts'
import type { RemoteResource } from '../../src/kinds/remote-resource.ts'
import { secretRefsIn } from '../../src/kinds/secret-ref.ts'
import { createSecretMask } from '../../src/lib/mask/secret-mask.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { createFindingRoom } from '../../src/manifest/validate/parse-document.ts'
import { DEFAULT_LIMITS } from '../../src/manifest/yaml/limits.ts'
import { createRandom } from '../torture/random.ts'
import { GIVEN, givenNamed, wireBody } from './given.ts'
import { pipeReply } from './reply.ts'
import { parseFile } from '../support/at-once.ts'

/* What `import` makes of a reply, however the service says it (facts 7). */

const pipes = GIVEN.filter(({ manifest }) => manifest.kind === 'Pipe')

const MADE = {
  id: '0d4d5c1e-7a55-4c1f-8d0b-3c1f5f1d2a61',
  serviceId: 'c8d14a7e-93f2-4b06-a5e1-2d70b9f4e381',
  state: 'Running',
}

const SEEDS = Array.from({ length: 6 }, (_, index) => `seed-${index}`)

/** What has to be said: fields that a later version of the service may have, with something in them, and sizes that the service fills in. */
const TELLING = /\.(protobufSchema|addedLater)(\.|$)|^spec\.scaling\./

function imported(reply: JsonObject) {
  const names = { name: 'orders', service: 'warehouse', secret: 'orders' } as const
  return importedManifest({
    kind: PIPE,
    ...names,
    resource: reply as RemoteResource,
    mask: createSecretMask([]),
  })
}

/** All that is said of a manifest that stands in a file. */
function findingsIn(manifest: JsonObject): readonly string[] {
  const { documents, findings } = parseFile(
    { file: 'orders.yaml', hash: '', bytes: Buffer.from(stringify(manifest)) },
    { profile: CLICKHOUSE_CLOUD, limits: DEFAULT_LIMITS, room: createFindingRoom() },
  )
  return [...findings, ...documents.flatMap((document) => document.findings)].map(({ message }) => message)
}

/** What is wrong with what becomes of one reply; undefined: nothing. */
function faultsOf(reply: JsonObject) {
  const { manifest, leftOut } = imported(reply)
  const noise = leftOut.filter(({ path }) => !TELLING.test(path))
  if (manifest === undefined) return { noise, reply }
  const body = PIPE.body(manifest as unknown as PipeManifest) // it is checked below
  const drift = compareBody(PIPE.fields, body, reply).map(({ field }) => field)
  const said = findingsIn(manifest)
  return noise.length + drift.length + said.length === 0 ? undefined : { noise, drift, said, reply }
}

describe('a manifest made of any reply is valid, nothing of it differs, and of what is not set nothing is said', () => {
  test.each(pipes)('$title', ({ manifest }) => {
    const wire = wireBody(manifest)
    const faults = SEEDS.flatMap((seed) => {
      const chance = { random: createRandom(seed), isTalkative: seed.endsWith('0') }
      return faultsOf(pipeReply(wire, MADE, chance)) ?? []
    })
    expect(faults.slice(0, 1)).toEqual([])
  })
})

const given = (name: string) => wireBody(givenNamed(name))

describe('what the service does not say stands where it can be seen', () => {
  test.each<{ why: string; name: string; refs: readonly string[] }>([
    {
      why: 'a password, and of a registry another one',
      name: 'orders',
      refs: [
        'credentials.password',
        'credentials.username',
        'schemaRegistry.credentials.password',
        'schemaRegistry.credentials.username',
      ],
    },
  ])('$why', ({ name, refs }) => {
    const { manifest } = imported(
      pipeReply(given(name), MADE, { random: createRandom('any'), isTalkative: false }),
    )
    expect(secretRefsIn(manifest ?? {}).map(({ path }) => path.split('.').slice(3).join('.'))).toEqual(refs)
  })
})
