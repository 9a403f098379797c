import type { Entry } from '../kinds/catalog.ts'
import type { Key } from '../kinds/key.ts'
import { kindOf } from '../kinds/key.ts'
import { compareEndpoint, takenAway } from '../kinds/query-endpoint/compare.ts'
import type { JsonObject } from '../lib/json.ts'
import type { DecideInput, Desired } from '../plan/input.ts'
import type { Fingerprint, LedgerRecord } from '../plan/record.ts'
import type { DesiredService } from './access.ts'
import { desiredService, isOtherService } from './access.ts'
import type { Deps, Turn } from './deps.ts'
import { askPlatform, lookedAt } from './observe.ts'
import type { BodySecrets } from './secrets.ts'
import { NO_SECRETS, readBodySecrets } from './secrets.ts'
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

/**
 * Gathers what is desired, recorded and observed for one key: at most one GET, and no write.
 * A failed GET is in `failure`; whatever else is thrown is a bug or the stop.
 */
export async function assess(deps: Deps, key: Key, recorded: LedgerRecord, turn: Turn): Promise<Assessment> {
  const { world } = deps
  const entry = world.entry(key)
  const service = desiredService(world, entry?.manifest)
  const state = world.desiredState(key)
  const asking = askPlatform(deps, { key, entry, state, recorded, service, turn })
  // What is wanted is worked out while the platform answers.
  const { body, secrets, fingerprint } = await wantedOf(deps, entry)
  const answer = await asking
  const desired: Desired = {
    key,
    state,
    problem: problemOf(entry),
    fingerprint,
    otherService: isOtherService(recorded, service),
  }
  const looked = lookedAt(deps, { key, entry, recorded, body }, answer)
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

/** What a manifest wants: the body, and the secrets that it refers to, with the hashes of both. */
interface Wanted {
  readonly body: JsonObject | undefined
  readonly secrets: BodySecrets
  readonly fingerprint: Fingerprint | undefined
}

const NOTHING_WANTED: Wanted = {
  body: undefined,
  secrets: NO_SECRETS,
  fingerprint: undefined,
}

async function wantedOf({ world, secrets: store }: Deps, entry: Entry | undefined): Promise<Wanted> {
  const asked = entry?.manifest && world.asked(entry.manifest)
  if (asked === undefined) return NOTHING_WANTED
  const secrets = await readBodySecrets(store, asked.body)
  return { body: asked.body, secrets, fingerprint: withSecretHashes(world, asked, secrets) }
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
