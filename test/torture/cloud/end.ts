import type { HistoryEntry } from '../../../src/contract/history.ts'
import { compareBody } from '../../../src/kinds/compare-body.ts'
import { PIPE_FIELDS } from '../../../src/kinds/profiles/clickhouse-cloud/pipe/schema.ts'
import { sha256 } from '../../../src/lib/digest.ts'
import { stableJson, type JsonObject } from '../../../src/lib/json.ts'
import type { PipeView } from '../../../src/sandbox/world.ts'
import type { Lineage } from '../lineage.ts'
import type { PlatformUnderTest } from '../platform.ts'
import type { ShownResource } from '../watch.ts'
import type { Mounts } from '../world.ts'
import { credentialsOf, specOfWish, type Wish } from './wish.ts'

const FIXED: readonly string[] = [
  'source.kafka.brokers',
  'source.kinesis.region',
  'source.postgres.settings.publicationName',
]

const AT_REST: readonly string[] = ['Stopped', 'Paused']

interface End {
  readonly lineage: Lineage
  readonly wish: Wish
  readonly resource: ShownResource
  readonly pipe: PipeView
  readonly platform: Pick<PlatformUnderTest, 'credentials'>
  readonly mounts: Pick<Mounts, 'password'>
  readonly history: readonly HistoryEntry[]
}

/** Whether a pipe is as its manifest asks for, or the one thing is reported that cannot be changed. */
export function isAsWished(end: End): boolean {
  const { wish, resource, pipe } = end
  if (AT_REST.includes(pipe.state) !== (wish.paused === true)) return false
  const fields = differingFields(end)
  if (isTakenOut(end) || fields.some((field) => FIXED.includes(field)))
    return resource.status === 'Drifted' && ['NotUpdatable', 'Drifted'].includes(resource.reason)
  return resource.status === 'Ready' && fields.length === 0 && hasNewestCredentials(end)
}

export function differingFields({
  lineage,
  wish,
  pipe,
}: Pick<End, 'lineage' | 'wish' | 'pipe'>): readonly string[] {
  const about = { name: lineage.platformName, password: '' }
  const spec = JSON.parse(JSON.stringify(specOfWish(wish, about))) as JsonObject // it is made of JSON
  return compareBody(PIPE_FIELDS, { name: lineage.platformName, ...spec }, pipe).map(({ field }) => field)
}

/** An optional field of a table that is not in the manifest any more: there is no request for that. */
function isTakenOut({ wish, pipe }: Pick<End, 'wish' | 'pipe'>): boolean {
  const { tableMappings = [] } = (pipe['source'] as unknown as Source).postgres ?? {}
  return tableMappings.some(
    ({ sourceTable, excludedColumns = [] }) =>
      excludedColumns.length > 0 && wish.tables[sourceTable] === false,
  )
}

/** Of a database, as far as it is of use here. */
interface Source {
  readonly postgres?: {
    readonly tableMappings: readonly {
      readonly sourceTable: string
      readonly excludedColumns?: readonly string[]
    }[]
  }
}

/** With which secrets a pipe was created that is adopted, nobody knows: then a new value is not told from an old one. */
function hasNewestCredentials({ lineage, wish: { source }, pipe, platform, mounts, history }: End): boolean {
  if (history.some((entry) => isAdoption(entry) && entry.message.includes(pipe.id))) return true
  const name = source === 'kinesis' ? 'accessKey' : 'credentials'
  const sent = credentialsOf(source, mounts.password(lineage.secret))
  return platform.credentials(pipe.id)[name] === sha256(`${pipe.id} ${stableJson(sent)}`)
}

function isAdoption(entry: HistoryEntry): boolean {
  return entry.type === 'action' && entry.action === 'adopt'
}

/** What is wrong with one that is not as its manifest asks for. */
export function wordsOfEnd({ lineage, wish, pipe }: Pick<End, 'lineage' | 'wish' | 'pipe'>): string {
  const fields = differingFields({ lineage, wish, pipe })
  const paused = wish.paused === undefined ? '' : `, and policy.paused is ${wish.paused}`
  return `it is ${pipe.state}${paused}; ${fields.length === 0 ? 'only its credentials can differ' : `it differs in ${fields.join(', ')}`}`
}
