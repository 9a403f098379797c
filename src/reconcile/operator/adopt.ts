import type { ReconcileContext } from '../context.ts'
import type { Finding } from '../../kinds/finding.ts'
import { type Difference, maskDifferences } from '../../kinds/difference.ts'
import type { Key } from '../../kinds/key.ts'
import { compareBody } from '../../kinds/compare-body.ts'
import { timeOf } from '../../kinds/instant.ts'
import { capital, nounOf, isCreateOnce, remoteNameOf } from '../../kinds/lookup.ts'
import { createOnceKindOf, isCreatable } from '../../kinds/profile.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import type { JsonObject } from '../../lib/json.ts'
import { sameId } from '../../lib/same-id.ts'
import type { Conditions } from '../../plan/condition.ts'
import type { Reason } from '../../plan/reason.ts'
import { STATE } from '../../plan/reasons/observing.ts'
import { sentence } from '../../plan/reasons/row.ts'
import { wasGivenUp } from '../../plan/missing.ts'
import { isOlder, undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { LedgerRecord, Remote } from '../../plan/record.ts'
import { desiredService, recordedAccess, type DesiredService } from '../gather/service-access.ts'
import type { OperatorCommand, OperatorResult } from '../../contract/person-command.ts'
import { conditionsToRenew, withRecord, noManifestWords, nothingToResolve, refused } from './operator.ts'
import { readRecorded } from './resolve.ts'
import type { ReadOptions } from '../../contract/platform.ts'
import { isRequestError } from '../apply/outcome-of-error.ts'
import { adoptExisting, type AdoptRequest, stillSending } from '../apply/adopt-existing.ts'
import { ownedByOtherKey } from '../apply/other-owners.ts'
import { replyMask } from '../../kinds/mask.ts'
import { missingSecretSteps, missingSecretWords } from '../../plan/reasons/requests.ts'
import { causeOf } from '../../plan/reason.ts'
import { proseOf } from '../../plan/step.ts'
import { withSecretHashes } from '../gather/assess.ts'
import { readBodySecrets } from '../gather/body-secrets.ts'

type Adoption = OperatorCommand & { readonly command: 'adopt' | 'resolve' }

export function adoptAs(
  context: ReconcileContext,
  adoption: Adoption,
  signal: AbortSignal,
): Promise<OperatorResult> {
  const options: ReadOptions = { priority: 0, signal }
  return withRecord(context, adoption.key, async (recorded) => {
    try {
      return await adoptOnce(context, adoption, recorded, options)
    } catch (error) {
      if (!isRequestError(error)) throw error
      return refused(
        `No change was made: the ${nounOf(adoption.key)} could not be read. ${sentence(error.message)}`,
      )
    }
  })
}

async function adoptOnce(
  context: ReconcileContext,
  { command, key, pipeId }: Adoption,
  recorded: LedgerRecord,
  options: ReadOptions,
): Promise<OperatorResult> {
  const intent = undecidedIntent(recorded)
  if (command === 'resolve' && intent === undefined) return refused(nothingToResolve(recorded))
  const wait = intent === undefined ? undefined : stillSending(context, key, intent)
  const target = await adoptionTarget(context, recorded)
  const why =
    wait ??
    target.problem ??
    claimOf(context, recorded, pipeId) ??
    (await heldRemote(context, recorded, pipeId, options))
  if (why !== undefined) return refused(why)
  if (target.problem !== undefined) throw new Error('a problem is a reason')

  const taken = await adoptExisting(context, { recorded, pipeId, ...target.found }, options)
  if (!taken.taken) return refused(causeOf({ reason: 'AdoptRefused', facts: taken.why }, key))
  const older = command === 'resolve' ? olderWords(recorded, taken.reply.value) : undefined
  if (older !== undefined) return refused(older)
  const history = taken.history.map((entry) => ({ ...entry, by: 'operator' as const }))
  const isSame = sameId(recorded.remote?.id, pipeId)
  const anew = conditionsToRenew(recorded.conditions, context.clock.now())
  const conditions = isSame ? keptFrom(recorded.conditions, anew) : anew
  await context.ledger.swap({ ...taken.record, conditions }, history)
  const { body } = target.found
  const remote = taken.reply.value
  const { fields } = createOnceKindOf(context.profile, key)
  const differences = maskDifferences(
    body === undefined ? [] : compareBody(fields, body, remote as JsonObject), // parsed JSON
    replyMask(context.mask, body),
  )
  const said = isSame
    ? `${key} keeps ${nounOf(key)} ${remote.id}. Pipewright now treats the current manifest and its secret values as applied.`
    : `Linked ${key} to ${nounOf(key)} ${remote.id}.`
  const settled = intent === undefined ? '' : ` Attempt ${intent.attempt} (intent ${intent.id}) resolved.`
  const message = `${said}${settled}${differWords(differences)}`
  return { result: 'done', message, pipeId: remote.id, intentId: intent?.id, differences }
}

function olderWords(recorded: LedgerRecord, { id, createdAt }: RemoteResource): string | undefined {
  const { key, former } = recorded
  const intent = undecidedIntent(recorded)
  if (intent === undefined || sameId(former?.remote.id, id) || isOlder(createdAt, intent) !== true)
    return undefined
  const when = `${createdAt}, before this create began at ${timeOf(intent.openedAt)}`
  return `${capital(nounOf(key))} ${id} was created at ${when}. To link it anyway, run "pipewright adopt ${key} ${id}".`
}

function keptFrom(before: Conditions | undefined, anew: Conditions | undefined): Conditions | undefined {
  if (before === undefined || anew === undefined) return anew
  const { Valid, Synced, Ready } = before
  return {
    Valid,
    Synced: Synced.status === 'True' ? Synced : anew.Synced,
    Ready: Object.hasOwn(STATE, Ready.reason) ? Ready : anew.Ready,
  }
}

/** @returns why not to adopt: another key has the pipe, or Git names another pipe for this key */
function claimOf({ store }: ReconcileContext, recorded: LedgerRecord, pipeId: string): string | undefined {
  const { key, remote } = recorded
  // Ignores the id of the replaced pipe, because Git can still name that pipe during a recreate.
  const formerId = undecidedIntent(recorded) === undefined ? undefined : recorded.former?.remote.id
  const held = ownedByOtherKey(store, pipeId, key)
  if (held !== undefined) return causeOf({ reason: 'AdoptRefused', facts: held }, key)
  if (sameId(remote?.id, pipeId) || sameId(store.lockedId(key), pipeId)) return undefined
  for (const [other, id, place] of namedInGit(store)) {
    if (other !== key && sameId(id, pipeId))
      return `${place} assigns ${nounOf(key)} ${pipeId} to ${other}. Use another id, or correct that line.`
    if (other === key && !wasGivenUp(recorded, id) && ![pipeId, formerId].some((one) => sameId(one, id)))
      return `${place} assigns ${nounOf(key)} ${id} to ${key}. Correct that line, or adopt ${id}.`
  }
  return undefined
}

function namedInGit({ catalog }: ReconcileContext['store']): readonly (readonly [Key, string, string])[] {
  return [
    ...[...(catalog?.entries.values() ?? [])].flatMap(({ key, manifest, position: { file, line } }) => {
      const named = manifest?.policy?.adopt
      return named === undefined ? [] : [[key, named, `policy.adopt at ${file}:${line}`] as const]
    }),
    ...[...(catalog?.locks ?? [])].map(([key, id]) => [key, id, 'A Lock'] as const),
  ]
}

async function heldRemote(
  context: ReconcileContext,
  recorded: LedgerRecord,
  pipeId: string,
  options: ReadOptions,
): Promise<string | undefined> {
  const { key, remote } = recorded
  if (remote === undefined || sameId(remote.id, pipeId)) return undefined
  const found = await readRecorded(context, recorded, remote, options)
  if (found === 'missing') return isKnownGone(recorded, remote) ? undefined : notBelieved(key, remote)
  if (found !== 'there') return found.why
  return (
    `${key} already has ${nounOf(key)} ${remote.id}, which exists. Give ${nounOf(key)} ${pipeId} a manifest of its own. ` +
    `Or stop managing ${remote.id}: remove the manifest, run "pipewright forget ${key}" once it is Orphaned, and bring the manifest ` +
    `back with policy.adopt: ${pipeId}.`
  )
}

/** Reasons that are shown only after proof that the pipe is gone. */
const GONE: ReadonlySet<Reason> = new Set(['Missing', 'NeverSeen'])

function isKnownGone({ conditions }: LedgerRecord, { saidGoneAt }: Remote): boolean {
  const reason = conditions?.Synced.reason
  return saidGoneAt !== undefined || (reason !== undefined && GONE.has(reason))
}

function notBelieved(key: Key, remote: Remote): string {
  return (
    `${key} has ${nounOf(key)} ${remote.id}, which was not found, but the loss is not confirmed yet. Run this command again when "pipewright status" ` +
    `shows it as Missing. Or set policy.adopt to the other id, and run "pipewright resolve ${key} --recreate".`
  )
}

function differWords(differences: readonly Difference[]): string {
  if (differences.length === 0) return ''
  const fields = differences.map(({ field }) => field).join(', ')
  return ` The platform reports other values than the manifest for ${fields}.`
}

type AdoptionTarget =
  | {
      readonly problem: undefined
      readonly found: Omit<AdoptRequest, 'recorded' | 'pipeId'> & {
        /** Undefined: the key has no manifest. */
        readonly body: JsonObject | undefined
      }
    }
  | { readonly problem: string }

async function adoptionTarget(context: ReconcileContext, recorded: LedgerRecord): Promise<AdoptionTarget> {
  const { store, secrets, mask, profile } = context
  const { key } = recorded
  const entry = store.entry(key)
  const manifest = entry?.manifest
  if (manifest === undefined || entry === undefined) {
    if (entry?.state === 'invalid') return { problem: invalidWords(recorded, entry.findings[0]) }
    return fromRecord(context, recorded)
  }
  const asked = store.asked(manifest)
  if (!isCreateOnce(manifest) || asked === undefined) {
    const isWatched = isCreatable(profile, key)
    return {
      problem: isWatched
        ? `${key} needs no adoption: its manifest only watches it, by spec.id.`
        : `${key} is not a pipe.`,
    }
  }
  const desired = desiredService(store, manifest)
  if (!desired.usable)
    return {
      problem: `${key} cannot be read. ${causeOf({ reason: 'DependencyNotReady', facts: desired.problem }, key)}`,
    }

  const body = await readBodySecrets(secrets, mask, asked.body)
  if (body.missing.length > 0) {
    const words = `${missingSecretWords(body.missing)} ${proseOf(missingSecretSteps(body.missing))} Then run this command again.`
    return { problem: `${words} Pipewright needs the secret to notice a later change of its value.` }
  }
  const found = {
    isFound: false,
    ...whereOf(context, recorded, desired),
    platformName: remoteNameOf(manifest),
    fingerprint: withSecretHashes(store, asked, body),
    revision: store.revision,
    body: asked.body,
  }
  return { problem: undefined, found }
}

/** If the outcome of a create is unknown, uses the recorded service, because the request went there. */
function whereOf(
  { store }: ReconcileContext,
  recorded: LedgerRecord,
  desired: DesiredService & { readonly usable: true },
) {
  const access =
    undecidedIntent(recorded) === undefined ? undefined : recordedAccess(store, recorded, desired)
  if (access === undefined || recorded.service === undefined) {
    return { access: desired.access, service: desired.identity }
  }
  return { access, service: recorded.service }
}

function fromRecord(context: ReconcileContext, recorded: LedgerRecord): AdoptionTarget {
  const { store } = context
  const { key, service, platformName, applied: fingerprint } = recorded
  if (service === undefined || platformName === undefined || fingerprint === undefined) {
    return { problem: noManifestWords(store, key) }
  }
  const access = recordedAccess(store, recorded, { usable: false, problem: { is: 'not named' } })
  if (access === undefined) {
    return {
      problem: `${key} and Service/${service.name} have no manifest. Restore the manifest of the Service, which names the API key, then run this command again.`,
    }
  }
  const { revision } = store
  return {
    problem: undefined,
    found: { isFound: false, access, service, platformName, fingerprint, revision, body: undefined },
  }
}

function invalidWords({ key }: LedgerRecord, finding: Finding | undefined) {
  const what =
    finding === undefined ? '' : ` ${finding.file}:${finding.line}: ${finding.message} ${finding.hint}`
  return `The manifest of ${key} has errors; correct them first.${what}`
}
