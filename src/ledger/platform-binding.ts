import { LedgerError } from '../contract/ledger.ts'
import type { Store } from './backend.ts'

/**
 * Ties a ledger to the platform of its first owner.
 * @throws {LedgerError} `platform` when it is tied to another one
 */
export function tieToPlatform(
  store: Store,
  {
    file,
    mode,
    platform,
  }: { readonly file: string; readonly mode: 'owner' | 'writer'; readonly platform?: string | undefined },
): void {
  if (platform === undefined) return
  const tied = store.read((tables) => ({ to: tables.platform(), records: tables.versions().size }))
  if (tied.to === platform) return
  if (tied.to !== undefined && tied.records > 0) throw otherPlatform(file, tied.to, platform)
  if (mode === 'owner') store.write((tables) => tables.setPlatform(platform), 'free')
}

/** @returns what it was tied to */
export function untie(store: Store): string | undefined {
  return store.write((tables) => {
    const platform = tables.platform()
    tables.setPlatform(undefined)
    return platform
  }, 'free')
}

function otherPlatform(file: string, tied: string, platform: string): LedgerError {
  return new LedgerError(
    'platform',
    `the ledger ${file} is of another platform: it was used with ${tied}, and this is ${platform}. Its pipes would be looked ` +
      'for there in vain, and created again. Give --base-url as it was; or name another ledger with --ledger; or, if it is ' +
      'the same platform under a new address, run "pipewright forget --platform" once.',
  )
}
