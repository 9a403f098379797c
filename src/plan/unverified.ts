import type { Changes, Compared } from '../kinds/changes.ts'
import { secretRefsIn } from '../kinds/secret-ref.ts'
import type { Action } from './action.ts'
import { becauseOfMissing } from './gates.ts'
import type { CreateOnceInput } from './input.ts'
import type { MissingSecret } from './reasons/missing-secret.ts'
import type { NotSentWhy } from './reasons/not-sent.ts'
import { isAtRest, isStoppedForChange } from './rest.ts'

/*
 * No reply shows the value of a secret. It is known if it was sent, or mounted when the pipe was adopted: then the record has its hash. A secret
 * without a hash is not verified. Its first value is sent once, where the service takes it.
 */

/** Paths of the secrets that are not verified, and can be read. */
function unverifiedPaths({ desired, recorded }: CreateOnceInput): readonly string[] {
  const verified = recorded.applied?.secrets ?? {}
  return Object.keys(desired.fingerprint?.secrets ?? {})
    .filter((path) => verified[path] === undefined)
    .toSorted()
}

/** Files of the secrets that are not verified, and cannot be read. */
function unverifiedFiles({ recorded, surroundings }: CreateOnceInput): readonly MissingSecret[] {
  const verified = recorded.applied?.secrets ?? {}
  const missing = [...surroundings.missingAt].filter(([path]) => verified[path] === undefined)
  return filesOf(missing.map(([, secret]) => secret))
}

function filesOf(missing: readonly MissingSecret[]): readonly MissingSecret[] {
  return [...new Map(missing.map((secret) => [secret.file, secret])).values()]
}

/** Secrets that are sent because they are not verified. One that cannot be sent stops no other change. */
export function firstValues(
  input: CreateOnceInput,
  about: { readonly changes: Changes; readonly compared: Compared },
): readonly string[] {
  const paths = unverifiedPaths(input)
  return paths.filter(
    (path) =>
      whyNotSent(input, about, [path]) === undefined && neededFiles(input, about, [path]).length === 0,
  )
}

/** Why nothing is sent for these secrets; undefined: they are sent. */
function whyNotSent(
  input: CreateOnceInput,
  { changes, compared }: { readonly changes: Changes; readonly compared: Compared },
  paths: readonly string[],
): NotSentWhy | undefined {
  const { observed, policy, knownStates, recorded } = input
  const fields = new Set(paths)
  if (paths.some((path) => changes.wayOf(path, fields, compared) === undefined)) return 'no request'
  const state = observed.status === 'found' ? (observed.state ?? '') : ''
  if (knownStates?.done?.includes(state) === true) return 'done'
  if (isAtRest(input) && !isStoppedForChange(recorded) && policy.paused === undefined) return 'at rest'
  return policy.onEdit === 'report' ? 'policy' : undefined
}

/** Files that cannot be read, and without which the request for these secrets cannot be made. */
function neededFiles(
  { surroundings: { missingAt } }: CreateOnceInput,
  { changes, compared }: { readonly changes: Changes; readonly compared: Compared },
  paths: readonly string[],
): readonly MissingSecret[] {
  const fields = new Set(paths)
  const ways = new Set(paths.flatMap((path) => changes.wayOf(path, fields, compared) ?? []))
  const refs = [...ways].flatMap((way) => secretRefsIn(changes.request(way, fields, compared)))
  return filesOf(refs.flatMap(({ path }) => missingAt.get(path) ?? []))
}

/** What is said of a pipe that is as its manifest asks, if its credentials are not verified. */
export function notVerified(input: CreateOnceInput): Action | undefined {
  const { desired, recorded, kind, compared } = input
  const about = kind.changes && compared && { changes: kind.changes, compared }
  const paths = unverifiedPaths(input)
  const unread = unverifiedFiles(input)
  const missing = unread.length > 0 || about === undefined ? unread : neededFiles(input, about, paths)
  if (missing.length > 0) {
    const because = becauseOfMissing(missing)
    if (because.reason === 'TooManyOpenFiles') return { type: 'refuse', ...because }
    return {
      type: 'report',
      differences: [],
      reason: because.reason,
      facts: { ...because.facts, isUnverified: true },
    }
  }
  const pipeId = recorded.remote?.id
  if (paths.length === 0 || pipeId === undefined) return undefined
  const why = about && whyNotSent(input, about, paths)
  const facts = { key: desired.key, fields: paths, pipeId, why, isUnverified: true } as const
  return { type: 'report', reason: 'SecretRotated', differences: [], facts }
}
