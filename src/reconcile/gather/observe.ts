import { compareBody } from '../../kinds/compare-body.ts'
import { isUpserted, lifecycleOf } from '../../kinds/lookup.ts'
import { createOnceKindOf, expectedOf, fieldsOf, kindFor } from '../../kinds/profile.ts'
import type { Entry } from '../../contract/catalog.ts'
import type { Fields } from '../../kinds/field-table.ts'
import type { Key } from '../../kinds/key.ts'
import { foreignFields, type RemoteResource } from '../../kinds/remote-resource.ts'
import { type Difference, showName } from '../../kinds/difference.ts'
import { type JsonObject, sameJson } from '../../lib/json.ts'
import { sameId } from '../../lib/same-id.ts'
import type { Observed } from '../../plan/input.ts'
import { missesAfter } from '../../plan/missing.ts'
import { FOREIGN_KEPT, type LedgerRecord, type Remote } from '../../plan/record.ts'
import type { ReconcileContext } from '../context.ts'
import { forgetMisses, noteFound, noteMissing } from '../state/observations.ts'
import { maskFailure, RemoteError, type RemoteErrorFacts } from '../../contract/remote-error.ts'
import { saysDeleted } from '../state/entry-policy.ts'
import { isAlone, siblingFoundAt } from './siblings.ts'
import type { ReadAnswer, Question } from './read-platform.ts'

export interface ObservedKey {
  readonly observed: Observed
  readonly recorded: LedgerRecord
  readonly failure: unknown
  readonly requestId: string | undefined
}

export function observedKeyOf(
  context: ReconcileContext,
  asked: Pick<Question, 'key' | 'entry' | 'recorded' | 'permit'> & {
    readonly body: JsonObject | undefined
  },
  answer: ReadAnswer,
): ObservedKey {
  const recorded = withWordsTakenBack(asked.recorded, asked.entry)
  const unseen = { observed: { status: 'unseen' }, recorded, requestId: undefined } as const
  if (answer === undefined) return { ...unseen, failure: undefined }
  if ('reply' in answer) return found(context, asked, answer)
  const { askedAt } = answer
  // Masked again, because some secrets were read after the failure.
  const failure = maskFailure(answer.failure, context.mask)
  // Another failure between two 404s restarts their count.
  const isBroken = failure instanceof RemoteError && !['Missing', 'Throttled'].includes(failure.facts.class)
  if (isBroken) forgetMisses(context, asked.key)
  const isMissing =
    answer.isOfList !== true && failure instanceof RemoteError && failure.facts.class === 'Missing'
  const { key, entry } = asked
  const isCreated = lifecycleOf({ key, manifest: entry?.manifest, record: recorded }) === 'create-once'
  const isOurs = isUpserted(key) || (isCreated && recorded.remote !== undefined)
  return isMissing && isOurs
    ? missing(context, recorded, {
        facts: failure.facts,
        askedAt,
        isLast: asked.permit !== undefined,
      })
    : { ...unseen, failure }
}

function thereOf({ profile }: ReconcileContext, key: Key, value: RemoteResource): JsonObject {
  const kind = kindFor(profile, { key, manifest: undefined, record: undefined }) // an upsert kind has no variants
  return kind.lifecycle === 'upsert' ? kind.configured(value) : (value as JsonObject) // parsed JSON
}

function found(
  context: ReconcileContext,
  { key, entry, recorded, body }: Parameters<typeof observedKeyOf>[1],
  { reply, askedAt, isOfList }: Extract<ReadAnswer, { readonly reply: object }>,
): ObservedKey {
  const { value, requestId } = reply
  const desired = body ?? (entry?.manifest && expectedOf(context.profile, entry.manifest)) ?? {}
  const compared =
    isOfList === true ? [] : compareBody(fieldsOf(context.profile, key), desired, value as JsonObject) // parsed JSON
  const isCompared = isOfList !== true && body !== undefined
  const { remote } = recorded
  const isRead = isOfList !== true && remote !== undefined && sameId(remote.id, value.id)
  const known = isRead ? withForeign(context, { ...recorded, remote }, value) : recorded
  const differences = noteFound(context, {
    key,
    entry,
    body,
    reply,
    readAt: askedAt,
    differences: compared,
    foreign: isRead ? foreignIn(context, key, value) : undefined,
  })
  const state = value.state ?? undefined
  return {
    observed: { status: 'found', state, differences, there: thereOf(context, key, value) },
    recorded: seen(isCompared ? withSeenAs(context, known, { value, compared }) : known, entry, {
      id: value.id,
      now: context.clock.now(),
    }),
    failure: undefined,
    requestId,
  }
}

function withForeign(
  context: ReconcileContext,
  record: LedgerRecord & { readonly remote: Remote },
  value: RemoteResource,
): LedgerRecord {
  const { key, remote } = record
  const foreign = foreignIn(context, key, value, record)
  return sameJson(foreign, remote.foreign) ? record : { ...record, remote: { ...remote, foreign } }
}

/**
 * Masked names of settings that manifests do not support. An adoption (without `before`) records all of them. A later
 * read adds only fields in `kind.unsupported`, and drops fields that the service sets itself.
 */
export function foreignIn(
  { profile, store, mask }: ReconcileContext,
  key: Key,
  value: RemoteResource,
  before?: LedgerRecord & { readonly remote: Remote },
): Remote['foreign'] {
  const kind = createOnceKindOf(profile, key)
  const isNamed = (path: string) => kind.unsupported?.includes(path) === true
  const isOfService = (path: string) =>
    Iterator.from(store.createdIn(before?.service?.serviceId ?? '', key)).some((other) => {
      const isCreated = store.record(other)?.remote?.origin === 'created'
      return isCreated && store.observation(other)?.foreign?.includes(path) === true
    })
  const known = before?.remote.foreign ?? []
  const there = foreignFields(kind, value as JsonObject) // parsed JSON
    .filter(([path]) => isOfCreate(kind.fields, path))
    .map(([path]) => showName(mask.mask(path)))
    .filter((path) => before === undefined || isNamed(path) || (known.includes(path) && !isOfService(path)))
  const all = [...new Set([...known.filter(isNamed), ...there])].toSorted()
  return all.length === 0 ? undefined : all.slice(0, FOREIGN_KEPT)
}

/** Excludes spec.scaling, because another size must not prevent a replacement. */
function isOfCreate(fields: Fields, path: string): boolean {
  const [part = ''] = path.split(/[.[]/)
  return part !== 'scaling' && Object.hasOwn(fields, part)
}

/** Records a name or identity that differs from the manifest, because another manifest might describe the pipe. */
function withSeenAs(
  { store }: ReconcileContext,
  record: LedgerRecord,
  { value, compared }: { readonly value: RemoteResource; readonly compared: readonly Difference[] },
): LedgerRecord {
  const { key, remote } = record
  if (remote === undefined || !sameId(remote.id, value.id)) return record
  const paths = ['name', ...store.identityPathsOf(key)]
  const isEdited = compared.some(({ field }) => paths.some((path) => isAt(field, path)))
  const seenAs = isEdited ? store.identityHashes(key, value as JsonObject) : undefined // parsed JSON
  return sameJson(seenAs, remote.seenAs) ? record : { ...record, remote: { ...remote, seenAs } }
}

function isAt(field: string, path: string): boolean {
  return field === path || field.startsWith(`${path}[`)
}

/** Records that a read found the pipe. This refutes an operator's report that it is gone. */
function seen(
  record: LedgerRecord,
  entry: Entry | undefined,
  { id, now }: { readonly id: string; readonly now: number },
): LedgerRecord {
  const { remote } = record
  if (remote === undefined || !sameId(remote.id, id)) return record
  const seenAt = remote.seenAt ?? now
  const refutedAt = saysDeleted(entry, remote.id) ? (remote.refutedAt ?? now) : undefined
  const isKnown =
    seenAt === remote.seenAt && refutedAt === remote.refutedAt && remote.saidGoneAt === undefined
  return isKnown ? record : { ...record, remote: { ...remote, seenAt, saidGoneAt: undefined, refutedAt } }
}

/** Lets a new `policy.recreate` count again, once the one that a read had refuted is gone from the manifest. */
function withWordsTakenBack(record: LedgerRecord, entry: Entry | undefined): LedgerRecord {
  const { remote } = record
  if (remote?.refutedAt === undefined || entry?.manifest === undefined || saysDeleted(entry, remote.id))
    return record
  return { ...record, remote: { ...remote, refutedAt: undefined } }
}

function missing(
  context: ReconcileContext,
  recorded: LedgerRecord,
  about: {
    readonly facts: RemoteErrorFacts
    readonly askedAt: number
    /** True: the read is right before a create, so its 404 is not counted. */
    readonly isLast: boolean
  },
): ObservedKey {
  const { store, clock } = context
  const { askedAt, isLast } = about
  const { credential, requestId } = about.facts
  const { key, remote, upsert } = recorded
  const before = store.observation(key)
  const counted = before?.found === false ? before.misses : undefined
  const misses =
    isLast && counted?.credential === credential
      ? counted
      : missesAfter({
          misses: counted,
          ageMs: store.ageMs(key) ?? Math.abs(store.steadyNow() - ((remote ?? upsert)?.at ?? 0)),
          now: clock.monotonic(),
          credential,
          foundAt: siblingFoundAt(context, recorded, credential),
        })
  noteMissing(context, key, { readAt: askedAt, misses, credential })
  return {
    observed: { status: 'missing', misses, isAlone: isAlone(context, recorded) },
    recorded,
    failure: undefined,
    requestId,
  }
}
