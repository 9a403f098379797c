import type { SourceKind } from '../../kinds/profiles/clickhouse-cloud/pipe/source.ts'
import { sha256 } from '../../lib/digest.ts'
import { type JsonObject, stableJson } from '../../lib/json.ts'
import type { PipeInternals } from '../stored.ts'
import { kindOf, objectIn } from './cloud-pipe.ts'
import { obstacle, type Refusal } from './change.ts'

const CREDENTIALS = ['credentials', 'accessKey', 'serviceAccountKey', 'connectionString'] as const

export function internalsOf(id: string, body: JsonObject): PipeInternals {
  const source = objectIn(objectIn(body, 'source'), kindOf(body))
  return { credentials: digestsOf(id, source), credentialsRevision: 0 }
}

export function rotated(id: string, internals: PipeInternals | undefined, patch: JsonObject): PipeInternals {
  const known = internals?.credentials ?? {}
  const sent = digestsOf(id, patch)
  const isNew = Object.entries(sent).some(([name, digest]) => known[name] !== digest)
  return {
    ...internals,
    credentials: { ...known, ...sent },
    credentialsRevision: (internals?.credentialsRevision ?? 0) + Number(isNew),
  }
}

function digestsOf(id: string, source: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    CREDENTIALS.filter((name) => source[name] !== undefined).map((name) => [
      name,
      sha256(`${id} ${stableJson(source[name])}`),
    ]),
  )
}

const WITHOUT_CONNECTION = ['tableMappingsToAdd', 'tableMappingsToRemove', 'settings']

/**
 * A PATCH reconnects without stored credentials (facts 8).
 * @param about `patch`: the effective part of the source kind
 */
export function signInRefusal(about: {
  readonly kind: SourceKind
  readonly patch: JsonObject
  readonly after: JsonObject
  readonly internals: PipeInternals | undefined
}): Refusal | undefined {
  const { kind, patch, after, internals } = about
  const connects = Object.keys(patch).some((name) => !WITHOUT_CONNECTION.includes(name))
  if (!connects || patch['credentials'] !== undefined) return undefined
  return isSignedIn({ kind, after, internals })
    ? obstacle('cannot connect to the source: login failed, no password was given')
    : undefined
}

function isSignedIn(about: {
  readonly kind: SourceKind
  readonly after: JsonObject
  readonly internals: PipeInternals | undefined
}): boolean {
  switch (about.kind) {
    case 'kafka':
      return about.after['authentication'] !== 'IAM_ROLE'
    case 'postgres':
    case 'mysql':
      return true
    case 'mongodb':
      return about.internals?.credentials?.['credentials'] !== undefined
    case 'objectStorage':
    case 'kinesis':
    case 'pubsub':
    case 'bigquery':
      return false
  }
}
