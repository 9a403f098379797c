import { isResource, nounOf } from '../../kinds/lookup.ts'
import { nameOf, type Key } from '../../kinds/key.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'
import { RELATED, listed, type CrossReport } from './cross-finding.ts'
import {
  refusedClaims,
  type OwnershipClaim,
  type Contradiction,
  type OwnershipEvidence,
} from './ownership.ts'

interface Input {
  readonly documents: readonly ParsedDocument[]
  readonly standing: OwnershipEvidence
  /** Keys of all found manifests, valid or not. */
  readonly existing: ReadonlySet<Key>
}

/** Reports an id of several keys, a key with several ids, and a key without a manifest. */
export function checkLocks({ documents, standing, existing }: Input, report: CrossReport) {
  const locked: OwnershipClaim[] = []
  for (const document of documents) {
    if (document.manifest !== undefined) locked.push(...lockClaims(document))
  }
  const all = [...locked, ...adoptClaims(standing)]
  const refused = refusedClaims(SHARED_ID, all, standing.hadPipe, report).union(
    refusedClaims(DISAGREEMENT, locked, standing.hadPipe, report),
  )
  const accepted = locked.filter((claim) => !refused.has(claim))
  const agreed: ReadonlyMap<Key, string> = new Map(accepted.map(({ key, id }) => [key, id]))
  /** Keys whose claims were all refused, and for which the ledger names no pipe. */
  const contested = new Set<Key>()
  for (const { key } of refused) if (!agreed.has(key) && !standing.hasPipe(key)) contested.add(key)
  checkLeftAlone({ documents, contested, locked }, report)
  for (const claim of locked) {
    if (!existing.has(claim.key)) reportUnused(claim, report)
  }
  return { agreed, contested }
}

function lockClaims(document: ParsedDocument): readonly OwnershipClaim[] {
  return [...document.locks].map(([key, id]) => ({
    document,
    position: document.position,
    key,
    id,
    path: ['spec', 'pipes', key],
  }))
}

function adoptClaims({ manifests }: OwnershipEvidence): readonly OwnershipClaim[] {
  return manifests.flatMap(({ key, manifest, document, position }) => {
    const id = manifest.policy?.adopt
    return id === undefined
      ? []
      : [{ document, position, key, id: id.toLowerCase(), path: ['policy', 'adopt'] }]
  })
}

const SHARED_ID: Contradiction = {
  same: 'id',
  other: 'key',
  code: 'pipe-claimed-twice',
  wordsOn: ({ key, id }, { holder, named }) =>
    holder === undefined
      ? {
          message: `The ${nounOf(key)} ${id} is claimed by ${key} and by ${listed(named, key, ', ')}. It can belong to only one of them.`,
          hint: `Keep the id only for the key that the ${nounOf(key)} belongs to.`,
        }
      : {
          message: `The ${nounOf(key)} ${id} already belongs to ${holder.key}, so ${key} cannot have it.`,
          hint: `Remove the id here. To give the id to ${key}, first remove it from ${holder.key}.`,
        },
  related: ({ key }) => `claimed by ${key}`,
}

const DISAGREEMENT: Contradiction = {
  same: 'key',
  other: 'id',
  code: 'lock-conflict',
  wordsOn: ({ key, id }, { holder, named }) => ({
    message:
      holder === undefined
        ? `Locks disagree on ${key}: ${listed(named, undefined, ' and ')}.`
        : `${key} already has the id ${holder.id}. This Lock says ${id}, which is ignored.`,
    hint: `Find out which id is right, and remove the wrong one. Until then, Pipewright ${holder === undefined ? `does not touch the ${nounOf(key)}` : `uses ${holder.id}`}.`,
  }),
  related: ({ id }) => `says ${id}`,
}

function checkLeftAlone(
  {
    documents,
    contested,
    locked,
  }: Pick<Input, 'documents'> & {
    readonly contested: ReadonlySet<Key>
    readonly locked: readonly OwnershipClaim[]
  },
  report: CrossReport,
): void {
  if (contested.size === 0) return
  const claimsOf = Map.groupBy(locked, (claim) => claim.key)
  for (const document of documents) {
    const { key, manifest } = document
    if (key === undefined || !contested.has(key)) continue
    if (!isResource(manifest) || manifest.policy?.adopt !== undefined) continue
    report.add({ document, path: ['metadata', 'name'], severity: 'error', code: 'lock-conflict' }, () => ({
      message: `Locks contradict each other on the id of ${key}, so Pipewright does nothing with this ${nounOf(key)}.`,
      hint: 'Correct the Locks: one id for each key.',
      others: (claimsOf.get(key) ?? [])
        .slice(0, RELATED)
        .map((claim) => ({ document: claim.document, path: claim.path, message: `says ${claim.id}` })),
    }))
  }
}

function reportUnused({ key, document, path }: OwnershipClaim, report: CrossReport): void {
  if (document === undefined) return
  report.add({ document, path, severity: 'warning', code: 'lock-unused' }, () => ({
    message: `This line is for the ${nounOf(key)} "${nameOf(key)}", which has no manifest.`,
    hint: 'If the pipe was renamed, write a new Lock. Otherwise, remove the line or add the manifest.',
  }))
}
