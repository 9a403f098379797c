import { compareAlert } from '../kinds/alert/compare.ts'
import { alertExpectation } from '../kinds/alert/body.ts'
import type { Entry } from '../kinds/catalog.ts'
import type { Difference } from '../kinds/difference.ts'
import type { Key } from '../kinds/key.ts'
import { kindOf } from '../kinds/key.ts'
import { comparePipe } from '../kinds/pipe/compare.ts'
import { compareEndpoint, takenAway } from '../kinds/query-endpoint/compare.ts'
import type { JsonObject } from '../lib/json.ts'
import type { DecideInput, Desired, Observed } from '../plan/input.ts'
import { missesAfter } from '../plan/missing.ts'
import type { Fingerprint, LedgerRecord } from '../plan/record.ts'
import type { DesiredService } from './access.ts'
import { desiredService, isOtherService, recordedAccess } from './access.ts'
import type { Deps, Turn } from './deps.ts'
import { noteFound, noteMissing } from './looks.ts'
import { RemoteError } from './remote-error.ts'
import type { BodySecrets } from './secrets.ts'
import { readBodySecrets } from './secrets.ts'
import { surroundingsOf } from './surroundings.ts'
import type { Asked, World } from './world.ts'

/** All that a decision and its action need of one key. */
export interface Assessment {
  readonly input: DecideInput
  readonly entry: Entry | undefined
  readonly body: JsonObject | undefined
  readonly secrets: BodySecrets
  readonly service: DesiredService
  /** Why the platform could not be asked; the decision was made without. */
  readonly failure: unknown
  readonly requestId: string | undefined
}

const NO_SECRETS: BodySecrets = { values: new Map(), missing: [] }

/**
 * Gathers what is desired, recorded and observed for one key: at most one GET, and no write.
 * A failed GET is in `failure`; whatever else is thrown is a bug or the stop.
 */
export async function assess(deps: Deps, key: Key, recorded: LedgerRecord, turn: Turn): Promise<Assessment> {
  const { world } = deps
  const entry = world.entry(key)
  const manifest = entry?.manifest
  const asked = manifest === undefined ? undefined : world.asked(manifest)
  const body = asked?.body
  const secrets = body === undefined ? NO_SECRETS : await readBodySecrets(deps.secrets, body)
  const service = desiredService(world, manifest)
  const fingerprint = asked === undefined ? undefined : withSecretHashes(world, asked, secrets)
  const desired: Desired = {
    key,
    state: world.desiredState(key),
    problem: problemOf(entry),
    fingerprint,
    otherService: isOtherService(recorded, service),
  }
  const looked = await look(deps, { key, entry, desired, recorded, service, body, turn })
  const now = deps.clock.now()
  const base = {
    desired,
    recorded: looked.recorded,
    observed: looked.observed,
    surroundings: await surroundingsOf(deps, {
      entry,
      recorded: looked.recorded,
      desired,
      service,
      secrets,
      now,
    }),
    timing: deps.timing,
    now,
  }
  const input = inputOf(base, entry, deps, body)
  return { input, entry, body, secrets, service, failure: looked.failure, requestId: looked.requestId }
}

function inputOf(
  base: Omit<DecideInput, 'kind' | 'policy'> & { readonly recorded: LedgerRecord },
  entry: Entry | undefined,
  deps: Deps,
  body: JsonObject | undefined,
): DecideInput {
  const manifest = entry?.manifest
  const kind = kindOf(base.desired.key)
  switch (kind) {
    case 'Pipe':
      return { ...base, kind, policy: (manifest?.kind === 'Pipe' ? manifest.policy : undefined) ?? {} }
    case 'Alert':
      return { ...base, kind, policy: (manifest?.kind === 'Alert' ? manifest.policy : undefined) ?? {} }
    case 'Service':
      return { ...base, kind, policy: {}, authFailure: deps.world.authFailure(manifest?.metadata.name ?? '') }
    case 'QueryEndpoint': {
      const reply = base.recorded.upsert?.reply
      const known = reply !== undefined && body !== undefined
      return {
        ...base,
        kind,
        policy: (manifest?.kind === 'QueryEndpoint' ? manifest.policy : undefined) ?? {},
        replyDiffers: known
          ? compareEndpoint(body, { ...reply, roles: [...reply.roles], openApiKeys: [...reply.openApiKeys] })
          : [],
        takesAway: known ? takenAway(reply, body) : [],
      }
    }
  }
}

interface LookInput {
  readonly key: Key
  readonly entry: Entry | undefined
  readonly desired: Desired
  readonly recorded: LedgerRecord
  readonly service: DesiredService
  readonly body: JsonObject | undefined
  readonly turn: Turn
}

interface Looked {
  readonly observed: Observed
  readonly recorded: LedgerRecord
  readonly failure: unknown
  readonly requestId: string | undefined
}

/** Asks the platform, where there is something to ask for and the manifest does not say to leave it alone. */
async function look(deps: Deps, input: LookInput): Promise<Looked> {
  const { recorded, entry, desired } = input
  const unseen: Looked = {
    observed: { status: 'unseen' },
    recorded,
    failure: undefined,
    requestId: undefined,
  }
  if (desired.state === 'absent' || desired.state === 'vanishing' || isSuspended(entry, deps.clock.now()))
    return unseen
  try {
    if (kindOf(input.key) === 'Pipe') return (await lookAtPipe(deps, input)) ?? unseen
    if (kindOf(input.key) === 'Alert') return (await lookAtAlert(deps, input)) ?? unseen
    return unseen
  } catch (error) {
    return { ...unseen, failure: error }
  }
}

async function lookAtPipe(
  deps: Deps,
  { key, recorded, service, body, turn, entry }: LookInput,
): Promise<Looked | undefined> {
  const { pipe } = recorded
  const access = recordedAccess(deps.world, recorded, service)
  if (pipe === undefined || access === undefined) return undefined
  const options = { priority: turn.priority, signal: turn.stopping }
  try {
    const { value, requestId } = await deps.platform.getPipe(access, pipe.id, options)
    const differences: readonly Difference[] = body === undefined ? [] : comparePipe(body, value)
    const state = value.state ?? undefined
    noteFound(deps, key, { state, reply: value, desired: body ?? {}, record: recorded, entry })
    deps.emit({ type: 'Observed', key, state, differences })
    const found = recorded.misses === undefined ? recorded : { ...recorded, misses: undefined }
    return {
      observed: { status: 'found', state, differences },
      recorded: found,
      failure: undefined,
      requestId,
    }
  } catch (error) {
    if (!(error instanceof RemoteError) || error.facts.class !== 'Missing') throw error
    noteMissing(deps, key)
    const misses = missesAfter({ misses: recorded.misses, createdAt: pipe.at, now: deps.clock.now() })
    return {
      observed: { status: 'missing' },
      recorded: { ...recorded, misses },
      failure: undefined,
      requestId: error.facts.requestId,
    }
  }
}

async function lookAtAlert(
  deps: Deps,
  { key, recorded, turn, entry }: LookInput,
): Promise<Looked | undefined> {
  const manifest = entry?.manifest
  if (manifest?.kind !== 'Alert') return undefined
  const options = { priority: turn.priority, signal: turn.stopping }
  const { value, requestId } = await deps.platform.getAlert(manifest.spec.id, options)
  const desired = alertExpectation(manifest)
  const differences = compareAlert(desired, value)
  const state = value.state ?? undefined
  noteFound(deps, key, { state, reply: value, desired, record: recorded, entry })
  deps.emit({ type: 'Observed', key, state, differences })
  return { observed: { status: 'found', state, differences }, recorded, failure: undefined, requestId }
}

/** What is asked for, with the hashes of what its secrets say now. */
export function withSecretHashes(
  world: Pick<World, 'hashOf'>,
  { fingerprint }: Asked,
  secrets: BodySecrets,
): Fingerprint {
  const hashes: Record<string, string> = {}
  for (const [path, secret] of secrets.values) hashes[path] = world.hashOf(secret)
  return {
    digest: fingerprint.digest,
    get fields() {
      return fingerprint.fields
    },
    secrets: hashes,
  }
}

function problemOf(entry: Entry | undefined): string | undefined {
  const finding = entry?.findings[0]
  if (finding === undefined) return undefined
  return `${finding.file}:${finding.line}:${finding.column}: ${finding.message} ${finding.hint}`
}

function isSuspended(entry: Entry | undefined, now: number): boolean {
  const manifest = entry?.manifest
  if (manifest === undefined || !('policy' in manifest)) return false
  return manifest.policy?.suspend !== undefined && Date.parse(manifest.policy.suspend.until) > now
}
