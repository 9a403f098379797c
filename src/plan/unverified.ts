import { secretRefsIn } from '../kinds/secret-ref.ts'
import type { Action } from './action.ts'
import { stateIn, type ChangeContext, type CreateOnceInput } from './input.ts'
import { unopenedIn, type MissingSecret } from './reasons/requests.ts'
import type { NotSentWhy } from './reasons/removal-words.ts'
import { isAtRest, isStoppedForChange } from './run-state.ts'

/*
 * Replies never show secrets. A secret is verified if Pipewright sent it, or if it was mounted at the adoption.
 * An unverified secret is sent once, if possible.
 */

function unverifiedPaths({ desired, recorded }: CreateOnceInput): readonly string[] {
  const verified = recorded.applied?.secrets ?? {}
  return Object.keys(desired.fingerprint?.secrets ?? {})
    .filter((path) => verified[path] === undefined)
    .toSorted()
}

function unverifiedFiles({ recorded, surroundings }: CreateOnceInput): readonly MissingSecret[] {
  const verified = recorded.applied?.secrets ?? {}
  const missing = [...surroundings.missingAt].filter(([path]) => verified[path] === undefined)
  return filesOf(missing.map(([, secret]) => secret))
}

function filesOf(missing: readonly MissingSecret[]): readonly MissingSecret[] {
  return [...new Map(missing.map((secret) => [secret.file, secret])).values()]
}

/** Paths of the unverified secrets that a request can send now. */
export function firstValues(input: CreateOnceInput, about: ChangeContext): readonly string[] {
  const paths = unverifiedPaths(input)
  return paths.filter(
    (path) =>
      whyNotSent(input, about, [path]) === undefined && neededFiles(input, about, [path]).length === 0,
  )
}

function whyNotSent(
  input: CreateOnceInput,
  { changes, compared }: ChangeContext,
  paths: readonly string[],
): NotSentWhy | undefined {
  const { observed, policy, knownStates, recorded } = input
  const fields = new Set(paths)
  if (paths.some((path) => changes.wayOf(path, fields, compared) === undefined)) return 'no request'
  const state = stateIn(observed) ?? ''
  if (knownStates?.done?.includes(state) === true) return 'done'
  if (isAtRest(input) && !isStoppedForChange(recorded) && policy.paused === undefined) return 'at rest'
  return policy.onEdit === 'report' ? 'policy' : undefined
}

function neededFiles(
  { surroundings: { missingAt } }: CreateOnceInput,
  { changes, compared }: ChangeContext,
  paths: readonly string[],
): readonly MissingSecret[] {
  const fields = new Set(paths)
  const ways = new Set(paths.flatMap((path) => changes.wayOf(path, fields, compared) ?? []))
  const refs = [...ways].flatMap((way) => secretRefsIn(changes.request(way, fields, compared)))
  return filesOf(refs.flatMap(({ path }) => missingAt.get(path) ?? []))
}

export function notVerified(input: CreateOnceInput): Action | undefined {
  const { desired, recorded, kind, compared } = input
  const about = kind.changes && compared && { changes: kind.changes, compared }
  const paths = unverifiedPaths(input)
  const unread = unverifiedFiles(input)
  const missing = unread.length > 0 || about === undefined ? unread : neededFiles(input, about, paths)
  if (missing.length > 0) {
    if (unopenedIn(missing) !== undefined)
      return { type: 'refuse', reason: 'SecretUnavailable', facts: { missing } }
    const facts = { missing, isUnverified: true } as const
    return { type: 'report', differences: [], reason: 'SecretUnavailable', facts }
  }
  const pipeId = recorded.remote?.id
  if (paths.length === 0 || pipeId === undefined) return undefined
  const why = about && whyNotSent(input, about, paths)
  const facts = { key: desired.key, fields: paths, pipeId, why, isUnverified: true } as const
  return { type: 'report', reason: 'SecretRotated', differences: [], facts }
}
