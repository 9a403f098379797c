import type { z } from 'zod'
import type { Changes } from '../../src/kinds/changes.ts'
import type { CreateOnceKind, Kind } from '../../src/kinds/definition.ts'
import { ChangeablePolicy } from '../../src/kinds/manifest.ts'
import type { Profile } from '../../src/kinds/profile.ts'
import { PIPE as CLOUD_PIPE } from '../../src/kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { PipeManifest } from '../../src/kinds/profiles/default/pipe/schema.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import type { JsonObject } from '../../src/lib/json.ts'

/* A service that lists pipes, changes, starts and stops them, and has one field of each sort. */

export const TOPICS = 'source.kafka.topics'
/** Changed only while the pipe rests. */
export const BROKERS = 'source.kafka.brokers'
/** A size, with a request of its own, that shows minutes later. */
export const REPLICAS = 'scaling.replicas'

const CREDENTIALS = 'source.kafka.credentials'

const CHANGES: Changes = {
  wayOf(field) {
    if (field === TOPICS || field === BROKERS || field.startsWith(CREDENTIALS)) return 'update'
    return field === REPLICAS ? 'scale' : undefined
  },
  request(way, fields, { desired }) {
    if (way === 'scale') return part(desired, 'scaling')
    const kafka = part(part(desired, 'source'), 'kafka')
    const names = ['topics', 'brokers', 'credentials'].filter((name) =>
      [...fields].some((field) => field.startsWith(`source.kafka.${name}`)),
    )
    return { source: { kafka: Object.fromEntries(names.map((name) => [name, kafka[name] ?? null])) } }
  },
  isFollowed: () => false,
  isLeft: () => false,
  needsRest: (field) => field === BROKERS,
  asksForRest: (said) => said.includes('must be paused'),
  isSlow: (field) => field === REPLICAS,
  rest: { atRest: ['Stopped'], stopping: ['Stopping'] },
}

function part(body: JsonObject, name: string): JsonObject {
  return body[name] as JsonObject // as the schema has it
}

const ChangingManifest = PipeManifest.extend({ policy: ChangeablePolicy.optional() })
type ChangingManifest = z.infer<typeof ChangingManifest>

const CHANGING_PIPE: CreateOnceKind<ChangingManifest> = {
  ...PIPE,
  schema: ChangingManifest,
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
