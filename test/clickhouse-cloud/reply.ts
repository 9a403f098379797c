import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import type { Random } from '../torture/random.ts'
import { DATABASE_KINDS, PIPE, type Fact, type Place } from './facts.ts'
import { oneOf, shuffled, writtenIn } from './reply-forms.ts'
import { isDatabasePipe } from './rules.ts'

/*
 * What a GET says of a pipe that was created with some body: what the column GET and the quirks of the facts allow, each by chance.
 */

/** What is left to chance, and what is not. */
export interface Chance {
  readonly random: Random
  /** Whether everything comes back that may be left out. */
  readonly isTalkative: boolean
  /** Whether a new size is on its way, and told as 0 or not at all. */
  readonly hidesSize?: boolean
}

interface Asked extends Chance {
  readonly isDatabase: boolean
  /** Values that the server fills in where a body sets none, by path. */
  readonly defaults: Readonly<Record<string, Json>>
}

interface Made {
  readonly id: string
  readonly serviceId: string
  readonly state: string
}

export const MADE: Made = {
  id: '0d4d5c1e-7a55-4c1f-8d0b-3c1f5f1d2a61',
  serviceId: 'c8d14a7e-93f2-4b06-a5e1-2d70b9f4e381',
  state: 'Running',
}

export function pipeReply(body: JsonObject, made: Made, chance: Chance): JsonObject {
  const asked = { ...chance, isDatabase: isDatabasePipe(body), defaults: defaultsOf(body, made) }
  return {
    ...membersOf(PIPE, body, asked),
    ...made,
    createdAt: '2026-02-03T04:05:06.789012Z',
    updatedAt: '2026-02-03T04:05:06.789012Z',
  }
}

/** The settings alone, as an operation of their own tells them. */
export function settingsReply(settings: JsonObject, random: Random): JsonObject {
  const place = PIPE.members.get('settings')
  const asked = { random, isTalkative: true, isDatabase: false, defaults: {} }
  return place === undefined ? {} : membersOf(place, settings, asked)
}

const DATABASE_DEFAULTS = Object.fromEntries(
  DATABASE_KINDS.flatMap((kind) => [
    [`source.${kind}.settings.syncIntervalSeconds`, 60],
    [`source.${kind}.settings.pullBatchSize`, 100_000],
    [`source.${kind}.settings.initialLoadParallelism`, 4],
    [`source.${kind}.settings.snapshotNumRowsPerPartition`, 100_000],
    [`source.${kind}.settings.snapshotNumberOfParallelTables`, 1],
    [`source.${kind}.tableMappings[].tableEngine`, 'ReplacingMergeTree'],
  ]),
)

/** The facts name consumer group, replication settings, engine of tables and scaling, "perhaps more". */
function defaultsOf(body: JsonObject, { id }: Made): Readonly<Record<string, Json>> {
  return {
    ...DATABASE_DEFAULTS,
    'source.kafka.consumerGroup': `clickpipes-${id}`,
    'source.postgres.type': 'postgres',
    'source.postgres.authentication': 'basic',
    'source.postgres.settings.publicationName': `peerflow_pub_${id}`,
    'source.mysql.type': 'mysql',
    'source.mysql.authentication': 'basic',
    'source.mysql.settings.replicationMechanism': 'GTID',
    'source.mongodb.settings.useJsonNativeFormat': true,
    ...(isDatabasePipe(body)
      ? {}
      : {
          'destination.database': 'default',
          'scaling.replicas': 1,
          'scaling.replicaCpuMillicores': 125,
          'scaling.replicaMemoryGb': 0.5,
        }),
  }
}

/** What a server without a word of ours has as well. */
export const FILLED_IN: ReadonlySet<string> = new Set(
  Object.keys(defaultsOf({}, { id: '', serviceId: '', state: '' })),
)

function membersOf(place: Place, value: JsonObject, asked: Asked): JsonObject {
  const members = shuffled([...place.members.values()], asked.random)
  const known = members.flatMap((member) => {
    const told = memberOf(member, value[member.name], asked)
    return told === undefined ? [] : [[member.name, told] as const]
  })
  // Somebody else can set what no manifest has.
  const others = Object.entries(value).filter(([name]) => !place.members.has(name))
  const isNew = asked.random.chance(0.2)
  return Object.fromEntries([...known, ...(isNew ? [newMember(asked.random)] : []), ...others])
}

/** Whatever a later version of the service adds. */
function newMember(random: Random): readonly [name: string, value: Json] {
  return random.pick<readonly [string, Json]>([
    ['sshKeyResourceId', null],
    ['protobufSchema', 'AAAA'],
    ['addedLater', { reason: 'new', count: 1 }],
    ['labels', []],
    ['ttl', ''],
    ['isManagedElsewhere', false],
  ])
}

function memberOf(place: Place, value: Json | undefined, asked: Asked): Json | undefined {
  const { fact } = place
  if (fact !== undefined) return leafOf(fact, value, asked)
  if (place.isList) {
    return Array.isArray(value) && !isHidden(place, asked)
      ? shuffled(value.filter(isObject), asked.random).map((item) => membersOf(place, item, asked))
      : oneOf([undefined, null, []], asked.random)
  }
  if (isObject(value) && !isNever(place) && !isHidden(place, asked)) return membersOf(place, value, asked)
  return unsetObject(place, asked)
}

/** A kind of source that is not used has no values of its own, nor has what never comes back. */
function unsetObject(place: Place, asked: Asked): Json | undefined {
  const mayHaveMembers = !/^source\.\w+$/.test(place.path) && !isNever(place) && !isHidden(place, asked)
  const shape = oneOf(['absent', 'null', 'empty', 'members'], asked.random)
  if (shape === 'absent') return undefined
  if (shape === 'null') return null
  return shape === 'members' && mayHaveMembers ? membersOf(place, {}, asked) : {}
}

const never = new WeakMap<Place, boolean>()

function isNever(place: Place): boolean {
  if (place.fact !== undefined) return place.fact.returned === 'no'
  return never.getOrInsertComputed(place, () => [...place.members.values()].every(isNever))
}

/** Database kinds have no tables of their own to tell of. */
function isHidden(place: Place, { isDatabase }: Asked): boolean {
  return isDatabase && /^destination\.(tableDefinition|columns)|^fieldMappings/.test(place.path)
}

function leafOf(fact: Fact, value: Json | undefined, asked: Asked): Json | undefined {
  const { random, isDatabase, defaults } = asked
  if (asked.hidesSize === true && fact.change === 'scaling') return oneOf([undefined, null, 0], random)
  if (fact.returned === 'no') return undefined
  if (fact.returned === 'not DB' && isDatabase) return unsetLeaf(fact, random)
  if (value === undefined || value === null) {
    const filled = defaults[fact.field]
    return filled !== undefined && random.chance(0.5)
      ? writtenIn(fact.form, filled, random)
      : unsetLeaf(fact, random)
  }
  // what was set is not told as false, but left out
  if (fact.form.startsWith('whenReturned') && !asked.isTalkative && random.chance(0.5))
    return leftOut(fact, random)
  // a flag that is off is as good as unset, but for one that may be left out when it is on
  return value === false && !(asked.isTalkative && fact.returned === 'may')
    ? unsetLeaf(fact, random)
    : writtenIn(fact.form, value, random)
}

function leftOut(fact: Fact, random: Random): Json | undefined {
  return fact.type === 'bool' ? oneOf([undefined, null], random) : unsetLeaf(fact, random)
}

function unsetLeaf({ type }: Fact, random: Random): Json | undefined {
  if (type === 'bool') return oneOf([undefined, null, false], random)
  if (type === 'string') return oneOf([undefined, null, ''], random)
  return type === 'string[]' ? oneOf([undefined, null, []], random) : oneOf([undefined, null], random)
}
