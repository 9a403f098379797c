import { isResource, nounOf } from '../../kinds/lookup.ts'
import { nameOf, type Key } from '../../kinds/key.ts'
import { crossFinding, groupsOf, listed, othersIn, type CrossFinding } from './cross-finding.ts'
import type { Path, Statement } from '../diagnostics/diagnostic.ts'
import type { ParsedDocument } from '../validate/parse-document.ts'

/** A document that says which pipe id belongs to a key. */
interface Claim {
  readonly document: ParsedDocument
  readonly position: ParsedDocument['position']
  readonly key: Key
  readonly id: string
  readonly path: Path
}

/** What all documents of a reading claim, and what of it stands. */
export interface Claims {
  readonly locked: readonly Claim[]
  readonly adopted: readonly Claim[]
  /** The id of each key on which all Locks agree, and which no other key claims. */
  readonly agreed: ReadonlyMap<Key, string>
  readonly contested: ReadonlySet<Key>
}

/** One id belongs to one key, one key has one id, and a key that is locked should exist. */
export function lockFindings(
  documents: readonly ParsedDocument[],
  { locked, adopted, contested }: Claims,
  existing: ReadonlySet<Key>,
): readonly CrossFinding[] {
  const claimsOf = Map.groupBy(locked, (claim) => claim.key)
  return [
    ...sharedIds([...locked, ...adopted]),
    ...disagreements(locked),
    ...documents.flatMap((document) => leftAlone(document, contested, claimsOf)),
    ...locked
      .filter((claim) => !existing.has(claim.key) && claim.document.manifest !== undefined)
      .map(unused),
  ]
}

export function claimsIn(documents: readonly ParsedDocument[]): Claims {
  const locked = documents.filter(({ locks }) => locks.size > 0).flatMap(lockClaims)
  const adopted = documents.map(adoptClaim).filter((claim) => claim !== undefined)
  const contested = new Set<Key>()
  const sharing = groupsOf([...locked, ...adopted], (claim) => claim.id)
  for (const [, group] of sharing) {
    if (new Set(group.map((claim) => claim.key)).size > 1) for (const claim of group) contested.add(claim.key)
  }
  for (const [, group] of groupsOf(locked, (claim) => claim.key)) {
    if (new Set(group.map((claim) => claim.id)).size > 1) for (const claim of group) contested.add(claim.key)
  }
  const agreed = locked.filter((claim) => !contested.has(claim.key))
  return { locked, adopted, agreed: new Map(agreed.map((claim) => [claim.key, claim.id])), contested }
}

function lockClaims(document: ParsedDocument): readonly Claim[] {
  return [...document.locks].map(([key, id]) => ({
    document,
    position: document.position,
    key,
    id,
    path: ['spec', 'pipes', key],
  }))
}

function adoptClaim(document: ParsedDocument): Claim | undefined {
  const { manifest, key, position } = document
  const id = isResource(manifest) ? manifest.policy?.adopt : undefined
  if (key === undefined || id === undefined) return undefined
  return { document, position, key, id: id.toLowerCase(), path: ['policy', 'adopt'] }
}

function sharedIds(claims: readonly Claim[]): readonly CrossFinding[] {
  return contradictions(claims, { same: 'id', other: 'key' }, (claim, keys) => ({
    code: 'pipe-claimed-twice',
    message: `The ${nounOf(claim.key)} ${claim.id} is claimed by ${claim.key} and by ${listed(keys, claim.key, ', ')}; a ${nounOf(claim.key)} belongs to one.`,
    hint: 'Find out which one it is, and remove the id from the others.',
    related: ({ key }) => `claimed by ${key}`,
  }))
}

function disagreements(claims: readonly Claim[]): readonly CrossFinding[] {
  return contradictions(claims, { same: 'key', other: 'id' }, ({ key }, ids) => ({
    code: 'lock-conflict',
    message: `Locks disagree on ${key}: ${listed(ids, undefined, ' and ')}.`,
    hint: `Find out which id is right, and remove the other. Until then the ${nounOf(key)} is left alone.`,
    related: ({ id }) => `says ${id}`,
  }))
}

/** A finding for each claim that has the one thing in common with others, and the other thing not. */
function contradictions(
  claims: readonly Claim[],
  { same, other }: { readonly same: 'id' | 'key'; readonly other: 'id' | 'key' },
  wordsOf: (
    claim: Claim,
    others: ReadonlySet<string>,
  ) => Omit<Statement, 'severity'> & { readonly related: (claim: Claim) => string },
): readonly CrossFinding[] {
  return groupsOf(claims, (claim) => claim[same]).flatMap(([, group]) => {
    const othersOf = othersIn(group, (claim) => claim[other])
    const named = new Set(group.map((claim) => claim[other]))
    return group.flatMap((claim) => {
      const others = othersOf(claim)
      if (others.length === 0) return []
      const { related, ...words } = wordsOf(claim, named)
      const places = others.map((each) => ({
        document: each.document,
        path: each.path,
        message: related(each),
      }))
      return [crossFinding(claim.document, claim.path, { severity: 'error', ...words }, places)]
    })
  })
}

/** A pipe whose id is contested must not be created: it may be there already, under the other id. */
function leftAlone(
  document: ParsedDocument,
  contested: ReadonlySet<Key>,
  claimsOf: ReadonlyMap<Key, readonly Claim[]>,
): readonly CrossFinding[] {
  const { key, manifest } = document
  if (
    key === undefined ||
    !contested.has(key) ||
    !isResource(manifest) ||
    manifest.policy?.adopt !== undefined
  )
    return []
  const locks = claimsOf.get(key) ?? []
  const statement = {
    severity: 'error',
    code: 'lock-conflict',
    message: `The id that Locks give to ${key} is contested, so the ${nounOf(key)} is left alone.`,
    hint: 'Correct the Locks.',
  } as const
  const others = locks.map((claim) => ({
    document: claim.document,
    path: claim.path,
    message: `says ${claim.id}`,
  }))
  return [crossFinding(document, ['metadata', 'name'], statement, others)]
}

function unused(claim: Claim): CrossFinding {
  return crossFinding(claim.document, claim.path, {
    severity: 'warning',
    code: 'lock-unused',
    message: `There is no manifest of the ${nounOf(claim.key)} "${nameOf(claim.key)}".`,
    hint: 'Remove the line, or add the manifest.',
  })
}
