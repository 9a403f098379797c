import { isCreateOnce, remoteNameOf } from '../kinds/lookup.ts'
import type { JsonObject } from '../lib/json.ts'
import { nearest } from '../lib/nearest.ts'
import { undecidedIntent } from '../plan/outcome-unknown.ts'
import type { LedgerRecord } from '../plan/record.ts'
import { desiredService, recordedAccess, type DesiredService } from './access.ts'
import { withSecretHashes } from './assess.ts'
import type { PersonDeps } from './person.ts'
import { readBodySecrets } from './secrets.ts'
import type { TakeOver } from './take-over.ts'

/** Where a pipe is looked for that a key is to get, and what it is compared with; or why neither is known. */
export type AdoptionTarget =
  | {
      readonly problem: undefined
      readonly found: Omit<TakeOver, 'recorded' | 'pipeId'> & {
        /** What the manifest asks for; `undefined` when there is only a record. */
        readonly body: JsonObject | undefined
      }
    }
  | { readonly problem: string }

/** As the manifest says; or, when it is gone, as the record says. */
export async function adoptionTarget(deps: PersonDeps, recorded: LedgerRecord): Promise<AdoptionTarget> {
  const { world, secrets } = deps
  const { key } = recorded
  const entry = world.entry(key)
  const manifest = entry?.manifest
  if (manifest === undefined || entry === undefined) {
    if (entry?.state === 'invalid') return { problem: invalidWords(recorded, entry.findings[0]) }
    return fromRecord(deps, recorded)
  }
  const asked = world.asked(manifest)
  if (!isCreateOnce(manifest) || asked === undefined) return { problem: `${key} is not a pipe.` }
  const desired = desiredService(world, manifest)
  if (!desired.usable) return { problem: `${key} cannot be looked for. ${desired.problem}` }

  const body = await readBodySecrets(secrets, asked.body)
  if (body.missing.length > 0) {
    const files = body.missing
      .map(({ file, why }) => (why === 'absent' ? file : `${file} (${why})`))
      .join(', ')
    return {
      problem:
        `No secret at ${files}. Mount it there, or correct the secretRef, and say it again: ` +
        'a pipe that is adopted without would never show that the secret changed.',
    }
  }
  const found = {
    ...whereOf(deps, recorded, desired),
    platformName: remoteNameOf(manifest),
    fingerprint: withSecretHashes(world, asked, body),
    revision: entry.revision,
    body: asked.body,
  }
  return { problem: undefined, found }
}

/** What a create of unknown outcome made is where it was asked for, whatever the manifest says by now. */
function whereOf(
  { world }: PersonDeps,
  recorded: LedgerRecord,
  desired: DesiredService & { readonly usable: true },
) {
  const access =
    undecidedIntent(recorded) === undefined ? undefined : recordedAccess(world, recorded, desired)
  if (access === undefined || recorded.service === undefined) {
    return { access: desired.access, service: desired.identity }
  }
  return { access, service: recorded.service }
}

function fromRecord({ world }: PersonDeps, recorded: LedgerRecord): AdoptionTarget {
  const { key, service, platformName, applied: fingerprint } = recorded
  if (service === undefined || platformName === undefined || fingerprint === undefined) {
    return { problem: unknownWords({ world }, recorded) }
  }
  const access = recordedAccess(world, recorded, { usable: false, problem: '' })
  if (access === undefined) {
    return {
      problem: `${key} has no manifest, and nor has Service/${service.name}, whose credentials are needed.`,
    }
  }
  const revision = world.catalog?.revision.id ?? ''
  return {
    problem: undefined,
    found: { access, service, platformName, fingerprint, revision, body: undefined },
  }
}

function unknownWords({ world }: Pick<PersonDeps, 'world'>, { key }: LedgerRecord): string {
  const { catalog } = world
  if (catalog?.problem !== undefined)
    return `There is no manifest of ${key} to be seen. ${catalog.problem.message}`
  const near = nearest(key, catalog?.entries.keys() ?? [])
  const hint =
    near === undefined ? 'Write one first, or give the right --manifests.' : `Did you mean ${near}?`
  return `There is no manifest of ${key}, so nobody knows which service its pipe belongs to. ${hint}`
}

function invalidWords(
  { key }: LedgerRecord,
  finding: { file: string; line: number; message: string; hint: string } | undefined,
) {
  const what =
    finding === undefined ? '' : ` ${finding.file}:${finding.line}: ${finding.message} ${finding.hint}`
  return `The manifest of ${key} has errors; correct them first.${what}`
}
