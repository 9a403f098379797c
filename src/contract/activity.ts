import { z } from '../kinds/zod.ts'
import type { Finding } from '../kinds/finding.ts'
import { sha256 } from '../lib/digest.ts'

export const WithoutManifest = z
  .object({
    service: z.string(),
    /** ms since the epoch. */
    listedAt: z.number(),
    count: z.number(),
    pipes: z.array(z.object({ id: z.string(), name: z.string() }).readonly()).readonly(),
  })
  .readonly()
export type WithoutManifest = z.infer<typeof WithoutManifest>

export function withoutManifestSentence({ service, count, pipes }: WithoutManifest): string {
  const named = pipes.map(({ id, name }) => (name === '' ? id : `${name} (${id})`)).join(', ')
  const more = count > pipes.length ? ` and ${count - pipes.length} more` : ''
  const [has, them] = count === 1 ? ['pipe', 'a manifest for it'] : ['pipes', 'manifests for them']
  return (
    `${count} ${has} of service ${service} ${count === 1 ? 'has' : 'have'} no manifest: ${named}${more}. ` +
    `"pipewright import --all ${service}" writes ${them}.`
  )
}

/** Facts that the daemon or `apply` records about its own process. Times are ms since the epoch. */
export const Activity = z
  // Not strict, because a newer version of Pipewright can write more fields.
  .object({
    command: z.enum(['run', 'apply']),
    process: z.int(),
    host: z.string(),
    startedAt: z.number(),
    /** Absent while the process runs, and after a crash. */
    stoppedAt: z.number().optional(),
    url: z.string().optional(),
    revision: z.string().optional(),
    revisionSince: z.number().optional(),
    problem: z.string().optional(),
    errors: z.number().optional(),
    findings: z.string().optional(),
    /** Number of pipes whose id is in no Lock. */
    withoutLock: z.number().optional(),
    withoutManifest: z.array(WithoutManifest).readonly().optional(),
  })
  .readonly()
export type Activity = z.infer<typeof Activity>

export interface DaemonSummary extends Pick<
  Activity,
  'revisionSince' | 'problem' | 'errors' | 'findings' | 'withoutLock' | 'withoutManifest'
> {
  /** Number of resources that this daemon has not checked yet, although their interval is over. */
  readonly overdue?: number
}

/** `silent`: the process that has the ledger open does not answer. `died`: the last process left no `stoppedAt`. */
export type RunState = 'running' | 'silent' | 'stopped' | 'died' | 'never'

export function runStateOf(last: Activity | undefined, owned: boolean): RunState {
  if (owned) return 'running'
  if (last === undefined) return 'never'
  return last.stoppedAt === undefined ? 'died' : 'stopped'
}

/** A digest for each finding. A finding that moves to another line keeps it. Equal findings get different digests. */
export function digestsOf(findings: readonly Finding[]): readonly string[] {
  const seen = new Map<string, number>()
  return findings.map(({ severity, code, file, key, message }) => {
    const name = JSON.stringify([severity, code, file, key, message])
    const number = (seen.get(name) ?? 0) + 1
    seen.set(name, number)
    return sha256(`${name}#${number}`).slice(0, DIGITS)
  })
}

const digests = new WeakMap<readonly Finding[], string>()

/** Up to this number, each finding has its own digest. More findings share one, because a record must stay small. */
const REMEMBERED = 200

const DIGITS = 12

export function findingsDigest(findings: readonly Finding[]): string {
  return digests.getOrInsertComputed(findings, () => joined(digestsOf(findings)))
}

export function reportedIn(digest: string, findings: readonly Finding[]): ReadonlySet<string> {
  if (digest === findingsDigest(findings)) return new Set(digestsOf(findings))
  return new Set(digest.split(' ').filter((one) => one.length === DIGITS))
}

function joined(each: readonly string[]): string {
  const all = each.toSorted().join(' ')
  return each.length <= REMEMBERED ? all : sha256(all)
}
