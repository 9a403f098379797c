/**
 * Every reason that an action or a condition can have, with what it means in a few words.
 * They are part of the interface: `docs/runbook.md` has an entry for each.
 */
export const REASONS = {
  // creating and adopting
  New: 'it was never created',
  Adopt: 'its manifest or a Lock names the pipe to take over',
  RetryApproved: 'a person said that the last attempt created nothing',
  RetryFailed: 'the last attempt failed without effect',
  RecreateApproved: 'a person said that its pipe is gone',
  FoundByRead: 'a reading showed that the id in an unfinished reply is that of the new pipe',
  Created: 'the pipe was created',
  Adopted: 'an existing pipe was taken over',
  Moved: 'the record moved from the name the pipe had before',
  // why nothing is created
  RenameSuspected: 'a recorded pipe without a manifest looks like this one',
  NameTaken: 'the pipe of another manifest looks like this one',
  RenameWaiting: 'the pipe it was renamed from cannot move yet',
  CreateBrake: 'too many creations are wanted at once',
  DependencyNotReady: 'something it depends on is not ready',
  SecretUnavailable: 'a secret it refers to is not mounted',
  LockUnreadable: 'a file that may hold a Lock cannot be read',
  OutcomeUnknown: 'a create may or may not have worked',
  OutcomeUnsaved: 'a create has an outcome, and the ledger cannot be written',
  AdoptRefused: 'the pipe to take over cannot be taken over',
  BackingOff: 'it failed and waits for its next attempt',
  // looking
  InSync: 'the platform reports what the manifest asks for',
  Accepted: 'the manifest was edited to what the platform reports',
  Drifted: 'the platform reports something else, though the manifest did not change',
  NotUpdatable: 'the manifest was edited, and the interface cannot update a pipe',
  SecretRotated: 'a secret changed, and the interface cannot update a pipe',
  MissingUnconfirmed: 'the pipe was not found; not believed yet',
  Missing: 'the pipe is gone',
  MassMissing: 'too many pipes of a service, or of a credential, are not found at once',
  NeverSeen: 'the pipe was created, and no reading has found it yet',
  ReplacedRecently: 'the pipe is gone again, soon after it was replaced',
  Healthy: 'it exists, and its state is healthy or no state was asked for',
  UnhealthyState: 'its state is not one of the healthy ones',
  // upserting
  Edited: 'the manifest changed since it was applied',
  Resync: 'it was applied longer ago than its interval',
  Applied: 'it was applied, and the reply says so',
  Stalled: 'it was applied, and the reply keeps saying something else',
  // manifests
  Valid: 'the manifest is valid',
  InvalidManifest: 'the manifest has errors',
  ManifestVanishing: 'the manifest was not found; not believed yet',
  Orphaned: 'it is recorded, but its manifest is gone',
  Suspended: 'its manifest says to leave it alone for a while',
  ServiceInvalid: 'the Service that it belongs to has no valid manifest',
  // requests
  Unobserved: 'it was not looked at yet',
  Rejected: 'the platform refused the request',
  AuthFailed: 'the platform refused the credentials',
  RateLimited: 'the platform asked us to wait',
  ServiceIdle: 'the service is idle or still wakes up',
  Unavailable: 'the platform could not be reached or did not answer properly',
  LedgerFailed: 'the ledger could not be written',
  InUse: 'its credentials are used and were not refused',
} as const

export type Reason = keyof typeof REASONS
