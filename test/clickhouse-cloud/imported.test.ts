import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { compareBody } from '../../src/kinds/compare-body.ts'
import { importedManifest } from '../../src/kinds/imported.ts'
import { PIPE } from '../../src/kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import type { PipeManifest } from '../../src/kinds/profiles/clickhouse-cloud/pipe/schema.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/profiles.ts'
import type { RemoteResource } from '../../src/kinds/remote-resource.ts'
import { secretRefsIn } from '../../src/kinds/secret-ref.ts'
import { createSecretMask } from '../../src/lib/mask/secret-mask.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { createRandom } from '../torture/random.ts'
import { GIVEN, givenNamed, wireBody } from './given.ts'
import { MADE, pipeReply } from './reply.ts'
import { findingsOf, parse } from '../manifest/support.ts'

/* What `import` makes of a reply, however the service says it (facts 7). */

const pipes = GIVEN.filter(({ manifest }) => manifest.kind === 'Pipe')

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

/** What is wrong with what becomes of one reply; undefined: nothing. */
function faultsOf(reply: JsonObject) {
  const { manifest, leftOut } = imported(reply)
  const noise = leftOut.filter(({ path }) => !TELLING.test(path))
  if (manifest === undefined) return { noise, reply }
  const body = PIPE.body(manifest as unknown as PipeManifest) // it is checked below
  const drift = compareBody(PIPE.fields, body, reply).map(({ field }) => field)
  const said = findingsOf(parse(stringify(manifest), 'orders.yaml', CLICKHOUSE_CLOUD)).map(
    ({ message }) => message,
  )
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

test('a password, and of a registry another one, stands where it can be seen', () => {
  const chance = { random: createRandom('any'), isTalkative: false }
  const { manifest } = imported(pipeReply(wireBody(givenNamed('orders')), MADE, chance))
  expect(secretRefsIn(manifest ?? {}).map(({ path }) => path.split('.').slice(3).join('.'))).toEqual([
    'credentials.password',
    'credentials.username',
    'schemaRegistry.credentials.password',
    'schemaRegistry.credentials.username',
  ])
})
