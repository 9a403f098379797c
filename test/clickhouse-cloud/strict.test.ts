import { describe, expect, test } from 'vitest'
import { compareBody } from '../../src/kinds/compare-body.ts'
import { keyOf } from '../../src/kinds/key.ts'
import { fieldsOf } from '../../src/kinds/profile.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/profiles.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { createRandom } from '../torture/random.ts'
import { alertReply } from './alert-reply.ts'
import { changesOf, seenAtOf } from './changes.ts'
import { endpointFaults, endpointReply } from './endpoint.ts'
import { FACTS } from './facts.ts'
import {
  alertsExpected,
  alertsWritten,
  alertsThere,
  GIVEN,
  desiredBody,
  wireBody,
  type Declared,
} from './given.ts'
import { MADE, pipeReply } from './reply.ts'
import { pipeFaults } from './rules.ts'

const pipes = GIVEN.filter(({ manifest }) => manifest.kind === 'Pipe')
const endpoints = GIVEN.filter(({ manifest }) => manifest.kind === 'QueryEndpoint')

describe('the body that the client makes is what the facts ask for', () => {
  test.each(pipes)('$title', ({ manifest }) => {
    expect(pipeFaults(wireBody(manifest))).toEqual([])
  })

  test.each(endpoints)('$title', ({ manifest }) => {
    expect(endpointFaults(wireBody(manifest))).toEqual([])
  })

  test('of the eleven pipes of the folder, and more', () => {
    expect(pipes.length).toBeGreaterThan(20)
    expect(endpoints).toHaveLength(2)
  })
})

/** Enough that every way to write a field comes up. */
const SEEDS = Array.from({ length: 50 }, (_, index) => `seed-${index}`)

function replyTo(body: JsonObject, seed: string, isTalkative = false): JsonObject {
  return pipeReply(body, MADE, { random: createRandom(seed), isTalkative })
}

/** Where the client sees drift, with `[]` for any item of a list. */
function driftOf(manifest: Declared, desired: JsonObject, reply: JsonObject): readonly string[] {
  return compareBody(
    fieldsOf(CLICKHOUSE_CLOUD, keyOf(manifest.kind, manifest.metadata.name)),
    desired,
    reply,
  ).map(({ field }) => field.replaceAll(/\[.*?\](?=\.|$)/g, '[]'))
}

describe('however the service says what was asked for, the client sees no drift', () => {
  test.each(pipes)('$title', ({ manifest }) => {
    const wire = wireBody(manifest)
    const drift = SEEDS.flatMap((seed) => {
      const reply = replyTo(wire, seed)
      const seen = [desiredBody(manifest), wire].flatMap((desired) => driftOf(manifest, desired, reply))
      return seen.length === 0 ? [] : [{ seed, seen, reply }]
    })
    expect(drift).toEqual([])
  })

  test.each(endpoints)('$title', ({ manifest }) => {
    const wire = wireBody(manifest)
    const drift = SEEDS.flatMap((seed) => driftOf(manifest, wire, endpointReply(wire, createRandom(seed))))
    expect(drift).toEqual([])
  })

  test('and of the alerts what the folder expects', () => {
    const fields = fieldsOf(CLICKHOUSE_CLOUD, keyOf('Alert', 'any'))
    const drift = alertsExpected().flatMap((expected, index) =>
      SEEDS.flatMap((seed) =>
        compareBody(fields, expected, alertReply(alertsThere()[index] ?? {}, createRandom(seed))),
      ),
    )
    expect(alertsExpected()).toHaveLength(2)
    expect(drift).toEqual([])
  })

  test('and of an alert that is created', () => {
    const fields = fieldsOf(CLICKHOUSE_CLOUD, keyOf('Alert', 'any'))
    const drift = alertsWritten().flatMap((body) =>
      SEEDS.flatMap((seed) => compareBody(fields, body, alertReply(body, createRandom(seed)))),
    )
    expect(alertsWritten()).toHaveLength(1)
    expect(drift).toEqual([])
  })
})

describe('whatever one field says otherwise, the client names it and no other', () => {
  test.each(pipes)('$title', ({ manifest }) => {
    const wire = wireBody(manifest)
    const changes = changesOf(wire)
    const wrong = changes.flatMap(({ body, seenAt }, index) =>
      SEEDS.slice(0, 5).flatMap((seed) => {
        const seen = new Set(driftOf(manifest, wire, replyTo(body, `${seed}/${index}`, true)))
        return seen.size === 1 && seen.has(seenAt) ? [] : [{ seed, seenAt, seen: [...seen] }]
      }),
    )
    expect(changes.length).toBeGreaterThan(5)
    expect(wrong).toEqual([])
  })

  test('of every field that comes back', () => {
    const changed = new Set(
      pipes.flatMap(({ manifest }) => changesOf(wireBody(manifest)).map(({ seenAt }) => seenAt)),
    )
    const back = FACTS.filter(({ returned }) => returned !== 'no').map(seenAtOf)
    expect(back.filter((seenAt) => !changed.has(seenAt))).toEqual([])
  })
})
