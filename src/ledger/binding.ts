import { DEFAULT } from '../kinds/profiles/default/profile.ts'
import { LedgerError } from '../contract/ledger.ts'

export interface Binding {
  /** Address of the platform with the recorded pipes. Undefined: none is stored yet, or the caller accepts any. */
  readonly platform?: string | undefined
  /** Undefined: the ledger has the default profile, or the caller accepts any profile. */
  readonly profile?: string | undefined
}

/** @returns what to store; undefined: no change @throws {LedgerError} `platform` if records have another binding */
export function newBinding(
  ledger: string,
  bound: Binding,
  wanted: Binding,
  hasRecords: boolean,
): Binding | undefined {
  if (hasRecords) assertBinding(ledger, bound, wanted)
  const platform = wanted.platform ?? bound.platform
  const profile = wanted.profile === undefined ? bound.profile : keptProfile(wanted.profile)
  return platform === bound.platform && profile === bound.profile ? undefined : { platform, profile }
}

/** The default profile is stored as undefined, because the first ledgers stored no profile. */
function keptProfile(profile: string): string | undefined {
  return profile === DEFAULT.name ? undefined : profile
}

/** Refuses another platform or profile, because Pipewright would create all pipes there again. */
export function assertBinding(ledger: string, bound: Binding, wanted: Binding): void {
  const { platform, profile } = wanted
  const { platform: before, profile: own = DEFAULT.name } = bound
  if (profile !== undefined && own !== profile)
    throw new LedgerError(
      'platform',
      `the ledger ${ledger} belongs to another profile: it was used with --profile ${own}, not ${profile}. Use --profile ${own}, or ` +
        'name another ledger with --ledger.',
    )
  if (platform !== undefined && before !== undefined && before !== platform)
    throw new LedgerError(
      'platform',
      `the ledger ${ledger} belongs to another platform: it was used with ${before}, not ${platform}. With ${platform}, Pipewright would create ` +
        'its pipes again. Use the earlier --base-url, or name another ledger with --ledger. If only the address of the ' +
        'platform changed, run "pipewright forget --platform" once.',
    )
}

export function movedAway(ledger: string, at: string): LedgerError {
  return new LedgerError(
    'moved',
    `the ledger ${ledger} was moved to another ledger on ${at}. It lacks the pipes created since then: with it, Pipewright would create ` +
      'them again. Name the other ledger with --ledger, or in the chart with ledger.type. To return to this ledger, run ' +
      '"pipewright ledger export FILE --move --ledger OTHER", rename this one, and run "pipewright ledger import FILE".',
  )
}

export function isThere(ledger: string, movedAt: string | undefined, hint: string): LedgerError {
  const moved = movedAt === undefined ? '' : ` It was moved to another ledger on ${movedAt}: ${hint}.`
  return new LedgerError(
    'io',
    `the ledger ${ledger} exists already. For an import, name a new ledger with --ledger.${moved}`,
  )
}
