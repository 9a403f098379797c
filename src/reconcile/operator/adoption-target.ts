import { isCreateOnce, remoteNameOf } from '../../kinds/lookup.ts'
import { isCreatable } from '../../kinds/profile.ts'
import type { JsonObject } from '../../lib/json.ts'
import { nearest } from '../../lib/nearest.ts'
import { MORE_FILES } from '../../lib/open-files.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import { missingSecretWords, unopenedIn, unopenedWords } from '../../plan/reasons/missing-secret.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import type { AdoptRequest } from '../apply/adopt-existing.ts'
import { withSecretHashes } from '../gather/assess.ts'
import { type BodySecrets, NO_SECRETS, readBodySecrets } from '../gather/body-secrets.ts'
import { desiredService, recordedAccess, type DesiredService } from '../gather/service-access.ts'
import type { OperatorContext } from './operator.ts'

export type AdoptionTarget =
  | {
      readonly problem: undefined
      readonly found: Omit<AdoptRequest, 'recorded' | 'pipeId'> & {
        /** Undefined: there is only a record. */
        readonly body: JsonObject | undefined
        readonly secrets: BodySecrets['values']
      }
    }
  | { readonly problem: string }

export async function adoptionTarget(
  context: OperatorContext,
  recorded: LedgerRecord,
): Promise<AdoptionTarget> {
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
      problem: isWatched ? `${key} is only watched, by the id in its manifest.` : `${key} is not a pipe.`,
    }
  }
  const desired = desiredService(store, manifest)
  if (!desired.usable) return { problem: `${key} cannot be read. ${desired.problem}` }

  const body = await readBodySecrets(secrets, mask, asked.body)
  const unopened = unopenedIn(body.missing)
  if (unopened !== undefined)
    return { problem: `${unopenedWords(unopened)} ${MORE_FILES} Then run this again.` }
  if (body.missing.length > 0) {
    return {
      problem:
        `${missingSecretWords(body.missing)} Mount it there, or correct the secretRef, then run this again. ` +
        'Without it, a later change of the secret could not be noticed.',
    }
  }
  const found = {
    reason: 'Adopt' as const,
    ...whereOf(context, recorded, desired),
    platformName: remoteNameOf(manifest),
    fingerprint: withSecretHashes(store, asked, body),
    revision: store.revision,
    body: asked.body,
    secrets: body.values,
  }
  return { problem: undefined, found }
}

/** An unknown create was sent to the service of its time. */
function whereOf(
  { store }: OperatorContext,
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

function fromRecord({ store }: OperatorContext, recorded: LedgerRecord): AdoptionTarget {
  const { key, service, platformName, applied: fingerprint } = recorded
  if (service === undefined || platformName === undefined || fingerprint === undefined) {
    return { problem: unknownWords({ store }, recorded) }
  }
  const access = recordedAccess(store, recorded, { usable: false, problem: '' })
  if (access === undefined) {
    return {
      problem: `${key} and Service/${service.name} have no manifest. The credentials of the Service are needed.`,
    }
  }
  const { revision } = store
  return {
    problem: undefined,
    found: {
      reason: 'Adopt',
      access,
      service,
      platformName,
      fingerprint,
      revision,
      body: undefined,
      secrets: NO_SECRETS.values,
    },
  }
}

function unknownWords({ store }: Pick<OperatorContext, 'store'>, { key }: LedgerRecord): string {
  const { catalog } = store
  if (catalog?.problem !== undefined)
    return `The manifest of ${key} cannot be read. ${catalog.problem.message}`
  const near = nearest(key, catalog?.entries.keys() ?? [])
  const hint = near === undefined ? 'Write one first, or set the right --manifests.' : `Did you mean ${near}?`
  return `There is no manifest of ${key}, so its service is not known. ${hint}`
}

function invalidWords(
  { key }: LedgerRecord,
  finding: { file: string; line: number; message: string; hint: string } | undefined,
) {
  const what =
    finding === undefined ? '' : ` ${finding.file}:${finding.line}: ${finding.message} ${finding.hint}`
  return `The manifest of ${key} has errors; correct them first.${what}`
}
