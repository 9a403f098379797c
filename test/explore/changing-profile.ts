import { z } from 'zod'
import type { Changes, Compared } from '../../src/kinds/changes.ts'
import type { CreateOnceKind, Kind } from '../../src/kinds/definition.ts'
import { fieldsIn } from '../../src/kinds/field-table.ts'
import { DeletablePolicy } from '../../src/kinds/manifest.ts'
import type { Profile } from '../../src/kinds/profile.ts'
import { PIPE as CLOUD_PIPE } from '../../src/kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { PipeManifest, PipeSpec } from '../../src/kinds/profiles/default/pipe/schema.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { Table } from './life.ts'

/* A service that lists pipes, changes, starts and stops them, and has one field of each sort. */

export const TOPICS = 'source.kafka.topics'
/** Changed only while the pipe rests. */
export const BROKERS = 'source.kafka.brokers'
/** A size, with a request of its own, that shows minutes later. */
export const REPLICAS = 'scaling.replicas'

/** Added and removed one by one, while the pipe rests; shows minutes later. */
const TABLES = 'tables'

const CREDENTIALS = 'source.kafka.credentials'

const CHANGES: Changes = {
  wayOf(field, _, compared) {
    if (field === TABLES) return isEdit(tablesOf(compared)) ? 'update' : undefined
    if (field === TOPICS || field === BROKERS || field.startsWith(CREDENTIALS)) return 'update'
    return field === REPLICAS ? 'scale' : undefined
  },
  request(way, fields, compared) {
    const { desired } = compared
    if (way === 'scale') return part(desired, 'scaling')
    const kafka = part(part(desired, 'source'), 'kafka')
    const names = ['topics', 'brokers', 'credentials'].filter((name) =>
      [...fields].some((field) => field.startsWith(`source.kafka.${name}`)),
    )
    const { add, remove } = tablesOf(compared)
    return {
      ...(names.length > 0 && {
        source: { kafka: Object.fromEntries(names.map((name) => [name, kafka[name] ?? null])) },
      }),
      ...(fields.has(TABLES) && add.length > 0 && { tablesToAdd: add.map((table) => ({ ...table })) }),
      ...(fields.has(TABLES) &&
        remove.length > 0 && { tablesToRemove: remove.map((table) => ({ ...table })) }),
    }
  },
  isFollowed: (fields, compared) => fields.has(TABLES) && tablesOf(compared).isFollowed,
  isLeft: () => false,
  needsRest: (field) => field === BROKERS || field === TABLES,
  asksForRest: (said) => said.includes('must be paused'),
  isSlow: (field) => field === REPLICAS || field === TABLES,
  rest: { atRest: ['Stopped'], stopping: ['Stopping'] },
}

/** One that is copied in another way is removed first, and added once it is gone. */
function tablesOf({ desired, observed }: Compared) {
  const [want, have] = [tablesIn(desired), tablesIn(observed)]
  const isOther = ({ name, how }: Table) => want.get(name)?.how !== how
  const remove = [...have.values()].filter(isOther)
  return {
    add: [...want.values()].filter(({ name }) => !have.has(name)),
    remove,
    isFollowed: remove.some(({ name }) => want.has(name)),
  }
}

function tablesIn(body: JsonObject): ReadonlyMap<string, Table> {
  const tables = (body[TABLES] ?? []) as unknown as readonly Table[] // as the schema has it
  return new Map(tables.map((table) => [table.name, table]))
}

function isEdit({ add, remove }: ReturnType<typeof tablesOf>): boolean {
  return add.length + remove.length > 0
}

function part(body: JsonObject, name: string): JsonObject {
  return body[name] as JsonObject // as the schema has it
}

const ChangingSpec = PipeSpec.extend({
  [TABLES]: z
    .array(z.strictObject({ name: z.string(), how: z.string().meta({ returned: 'at times' }) }))
    .optional()
    .meta({ keyedBy: ['name'] }),
})
const ChangingManifest = PipeManifest.extend({ policy: DeletablePolicy.optional(), spec: ChangingSpec })
type ChangingManifest = z.infer<typeof ChangingManifest>

const CHANGING_PIPE: CreateOnceKind<ChangingManifest> = {
  ...PIPE,
  schema: ChangingManifest,
  fields: fieldsIn(ChangingSpec.omit({ service: true })),
  changes: CHANGES,
  states({ policy }) {
    const isPaused = policy?.paused === true
    return {
      healthy: [isPaused ? 'Stopped' : 'Running'],
      moving: ['Stopping', ...(isPaused ? ['Running'] : [])],
      unhealthy: isPaused ? [] : ['Stopped'],
      atRest: ['Stopped'],
      stopping: ['Stopping'],
    }
  },
  operations: { ...CLOUD_PIPE.operations, ...PIPE.operations },
}

export const CHANGING: Profile = {
  ...DEFAULT,
  name: 'changing',
  kinds: DEFAULT.kinds.map((kind): Kind => (kind.name === 'Pipe' ? CHANGING_PIPE : kind)),
}
