import type { Entry } from '../../contract/catalog.ts'
import type { Key } from '../../kinds/key.ts'
import { isCreateOnce, lifecycleOf } from '../../kinds/lookup.ts'
import { kindFor, knownStatesOf } from '../../kinds/profile.ts'
import { asService } from '../../kinds/service/kind.ts'
import { healthyStatesFor } from '../../kinds/state.ts'
import type { Compared } from '../../kinds/changes.ts'
import { valueAt } from '../../lib/json.ts'
import { interruptedFields } from '../../plan/change-waits.ts'
import type { DecideInput, Desired } from '../../plan/input.ts'
import type { Fingerprint, LedgerRecord } from '../../plan/record.ts'
import { desiredService, isOtherService, sameService } from './service-access.ts'
import { DecisionOutdated, type Basis, type ReconcileContext, type ReconcileRequest } from '../context.ts'
import { confirmed, type Question, type ReadAnswer, readPlatform, type Wanted } from './read-platform.ts'
import { observedKeyOf, type ObservedKey } from './observe.ts'
import { syncStoreFromLedger } from '../state/record-io.ts'
import type { Listing } from '../state/listings.ts'
import type { CreatePermit, Looks } from '../../contract/platform.ts'
import { type BodySecrets, missingCredentials, NO_SECRETS, readBodySecrets } from './body-secrets.ts'
import { changedSince, deletionFacts, sameEndpoint } from './deletion-facts.ts'
import { observedConfiguration } from './observed-configuration.ts'
import { surroundingsOf } from './surroundings.ts'
import type { DesiredBody } from '../state/bodies.ts'
import type { StateStore } from '../state/store.ts'

export interface Assessment extends Basis {
  readonly failure: unknown
  readonly requestId: string | undefined
  /** Start of the oldest reading, even if another key requested it; monotonic ms. */
  readonly readSince: number
  readonly gathered: Gathered
}

export interface Gathered {
  readonly question: Question
  readonly wanted: Wanted
  readonly answer: ReadAnswer
  readonly listing: Listing | undefined
  /** Keys whose records another process wrote during the wait for the request budget. */
  readonly news: readonly Key[]
  /** Start of the gathering; monotonic ms. */
  readonly since: number
  readonly looked?: ObservedKey | undefined
}

/**
 * Collects the desired, recorded and observed state, with at most one GET and one list request, and no write.
 * @param permit set if a create is decided again before its request
 * @param looks set if a write other than a create is decided again
 */
export async function gather(
  context: ReconcileContext,
  key: Key,
  recorded: LedgerRecord,
  request: ReconcileRequest,
  permit?: CreatePermit,
  looks?: Looks,
): Promise<Gathered> {
  const { store } = context
  const since = context.clock.monotonic()
  const entry = store.entry(key)
  const service = desiredService(store, entry?.manifest)
  const state = store.desiredState(key)
  const question = { key, entry, state, recorded, service, request, permit, looks }
  const asking = readPlatform(context, question)
  let wanted = await wantedOf(context, key, recorded)
  const { listing, ...asked } = await asking
  let { answer } = asked
  const news = permit !== undefined && permit.waitedMs > 0 ? await syncStoreFromLedger(context) : []
  const mustBeFresh = permit !== undefined || looks !== undefined
  const isCurrent = (known: Wanted) => isStillWanted(store, key, known) && (known.isFresh || !mustBeFresh)
  let isConfirmed = false
  while (!isConfirmed || !isCurrent(wanted)) {
    if (!isCurrent(wanted)) wanted = await wantedOf(context, key, recorded, mustBeFresh)
    const again = await confirmed(context, question, { wanted, answer })
    isConfirmed = again === answer
    answer = again
  }
  const isEdited = recorded.remote === undefined && wanted.entry?.manifest !== entry?.manifest
  const isOfFormer = isEdited || !sameService(wanted.service, service)
  if (answer !== undefined && isOfFormer) throw new DecisionOutdated(key)
  return { question, wanted, answer, listing, news, since }
}

/** Reads the manifest and secrets again, but keeps the platform's answers. Sends no request. */
export async function regather(
  context: ReconcileContext,
  { gathered, input, failure, requestId }: Assessment,
): Promise<Gathered> {
  const { key, recorded } = gathered.question
  let wanted = await wantedOf(context, key, recorded, true)
  while (!isStillWanted(context.store, key, wanted)) wanted = await wantedOf(context, key, recorded, true)
  const { observed, recorded: seen } = input
  return { ...gathered, wanted, looked: { observed, recorded: seen, failure, requestId } }
}

/**
 * Makes the input of a decision. Act on the input before the next `await`. Call `assess` once per gathering,
 * because each call stores and emits the answer.
 */
export function assess(context: ReconcileContext, gathered: Gathered): Assessment {
  const { question, wanted, answer, listing, since } = gathered
  const { key, recorded, permit, request } = question
  const { store } = context
  const { entry, service, body, secrets, fingerprint } = wanted
  const desired: Desired = {
    key,
    state: store.desiredState(key),
    problem: problemOf(entry),
    mistake: mistakeOf(entry),
    fingerprint,
    unsetHash: (field) => store.unsetHash(key, field),
    otherService: isOtherService(recorded, service),
  }
  const looked = gathered.looked ?? observedKeyOf(context, { key, entry, recorded, body, permit }, answer)
  const { recorded: seen, observed, failure, requestId } = looked
  const needed = context.sourceSecrets === 'optional' ? NO_SECRETS : secrets
  const now = context.clock.now()
  const base = {
    desired,
    recorded: seen,
    observed,
    surroundings: surroundingsOf(context, {
      entry,
      recorded: seen,
      desired,
      observed,
      service,
      missingSecrets: [...needed.missing, ...wanted.missingCredentials],
      missingAt: needed.missingAt,
      body,
      listing,
    }),
    timing: context.timing,
    healthyStates: healthyStatesFor(entry?.manifest?.policy?.healthyStates, context.healthyStates),
    knownStates: entry?.manifest && knownStatesOf(context.profile, entry.manifest),
    now,
    mask: context.mask.mask,
    steadyNow: store.steadyNow(),
    isAsked: request.isAsked,
  }
  const input = inputOf(base, { entry, body }, context)
  const readSince = Math.min(since, listing?.askedAt ?? since, answer?.askedAt ?? since)
  return { input, entry, body, secrets, service, failure, requestId, readSince, gathered }
}

function inputOf(
  base: Omit<DecideInput, 'lifecycle' | 'kind' | 'policy'> & { readonly recorded: LedgerRecord },
  { entry, body }: Pick<Wanted, 'entry' | 'body'>,
  context: ReconcileContext,
): DecideInput {
  const { key } = base.desired
  const kind = kindFor(context.profile, { key, manifest: entry?.manifest, record: base.recorded })
  const common = { ...base, policy: entry?.manifest?.policy ?? {} }
  switch (kind.lifecycle) {
    case 'create-once': {
      const { observed, recorded } = base
      const there = observed.status === 'found' ? observed.there : undefined
      const compared = there && body && { desired: body, observed: there }
      const removal = deletionFacts(context.store, { kind, recorded, entry })
      const changed = removal && changedSince(context.store, { kind, recorded, entry }, there)
      const added = compared && addedBefore(context.store, recorded, compared)
      return { ...common, lifecycle: kind.lifecycle, kind, compared, removal, changedSince: changed, added }
    }
    case 'read-only': {
      const watchedId = entry?.manifest && kind.remoteId(entry.manifest)
      return { ...common, lifecycle: kind.lifecycle, kind, watchedId }
    }
    case 'reference': {
      const contact = context.store.contact(entry?.manifest?.metadata.name ?? '')
      return { ...common, lifecycle: kind.lifecycle, kind, contact }
    }
    case 'upsert':
      return {
        ...common,
        lifecycle: kind.lifecycle,
        kind,
        removal: {
          claimant: entry && sameEndpoint(context.store, entry),
          limit: undefined,
          isAllowed: false,
        },
        ...observedConfiguration(kind, { ...base, left: context.store.overtaken.get(key) }, body),
      }
  }
}

/** Fields of an undone edit that the platform has. */
function addedBefore(store: StateStore, record: LedgerRecord, { desired, observed }: Compared) {
  const { fields: wanted = {} } = record.wanted ?? {}
  const fields = interruptedFields(record).filter((field) => valueAt(desired, field) === undefined)
  const there = fields.length === 0 ? {} : store.hashesOf(record.key, observed)
  return fields.filter((field) => there[field] !== undefined && there[field] === wanted[field])
}

async function wantedOf(
  context: ReconcileContext,
  key: Key,
  recorded: LedgerRecord,
  isFresh = false,
): Promise<Wanted> {
  const { store } = context
  const entry = store.entry(key)
  const service = desiredService(store, entry?.manifest)
  const asked = entry?.manifest && store.asked(entry.manifest)
  const credentials = credentialsNeeded({ entry, recorded, service })
  const missing = credentials === undefined ? [] : await missingCredentials(context.secrets, credentials)
  const common = { entry, service, missingCredentials: missing, isFresh }
  if (asked === undefined) return { ...common, body: undefined, secrets: NO_SECRETS, fingerprint: undefined }
  const secrets = await readBodySecrets(context.secrets, context.mask, asked.body)
  return { ...common, body: asked.body, secrets, fingerprint: withSecretHashes(store, asked, secrets) }
}

function isStillWanted(store: StateStore, key: Key, { entry, service }: Wanted): boolean {
  const now = store.entry(key)
  if (now?.digest !== entry?.digest || now?.manifest !== entry?.manifest) return false
  return sameService(desiredService(store, now?.manifest), service)
}

function credentialsNeeded({
  entry,
  recorded,
  service,
}: Pick<Wanted, 'entry' | 'service'> & { readonly recorded: LedgerRecord }): string | undefined {
  const manifest = entry?.manifest
  const own = asService(manifest)
  if (own !== undefined) return own.spec.credentials.secretRef.name
  const lifecycle = lifecycleOf({ key: recorded.key, manifest, record: recorded })
  const writes = lifecycle === 'upsert' || (lifecycle === 'create-once' && recorded.remote === undefined)
  return writes && service.usable ? service.access.secretName : undefined
}

export function wantedPipe({ input, entry, body }: Assessment) {
  const { fingerprint, key } = input.desired
  const manifest = entry?.manifest
  if (manifest === undefined || !isCreateOnce(manifest) || body === undefined || fingerprint === undefined)
    throw new Error(`${key} has no valid manifest to create or adopt a pipe`)
  return { manifest, body, fingerprint }
}

export function withSecretHashes(
  store: Pick<StateStore, 'hashOf'>,
  { fingerprint }: DesiredBody,
  secrets: BodySecrets,
): Fingerprint {
  const hashes: Record<string, string> = {}
  for (const [path, secret] of secrets.values) hashes[path] = store.hashOf(secret)
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

function mistakeOf(entry: Entry | undefined): string | undefined {
  const finding = entry?.findings[0]
  return finding && `${finding.code}: ${finding.message}`
}
