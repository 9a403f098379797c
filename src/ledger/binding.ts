import { DEFAULT } from '../kinds/profiles/default/profile.ts'
import { LedgerError } from '../contract/ledger.ts'

/** What the records of a ledger are of. */
export interface Binding {
  /** The platform; undefined: none yet, or it is not compared. */
  readonly platform?: string | undefined
  /** The profile; undefined: the default one, or it is not compared. */
  readonly profile?: string | undefined
}

/** The profile as it is kept: the default one has no name there, as all ledgers were of it once. */
export function keptProfile(profile: string): string | undefined {
  return profile === DEFAULT.name ? undefined : profile
}

/**
 * Refuses a ledger whose records are of another platform or profile: they would be looked for where they never were, found missing,
 * and created again.
 * @param ledger its name in words
 * @throws {LedgerError} `platform`
 */
export function assertBinding(ledger: string, bound: Binding, wanted: Binding): void {
  const { platform, profile } = wanted
  if (profile !== undefined && bound.profile !== keptProfile(profile))
    throw otherProfile(ledger, bound.profile ?? DEFAULT.name, profile)
  if (platform !== undefined && bound.platform !== undefined && bound.platform !== platform)
    throw otherPlatform(ledger, bound.platform, platform)
}

function otherProfile(ledger: string, bound: string, wanted: string): LedgerError {
  return new LedgerError(
    'platform',
    `the ledger ${ledger} is of another profile: it was used with --profile ${bound}, and this is ${wanted}. What it holds is of ` +
      `another service. Give --profile ${bound}, or name another ledger with --ledger.`,
  )
}

function otherPlatform(ledger: string, bound: string, wanted: string): LedgerError {
  return new LedgerError(
    'platform',
    `the ledger ${ledger} is of another platform: it was used with ${bound}, and this is ${wanted}. Its pipes would not be found ` +
      'there, and would be created again. Give --base-url as it was; or name another ledger with --ledger; or, if it is ' +
      'the same platform under a new address, run "pipewright forget --platform" once.',
  )
}
