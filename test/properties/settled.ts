import { undecidedIntent } from '../../src/plan/outcome-unknown.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import type { ResourceStatus } from '../../src/reconcile/status.ts'
import type { Play } from './history.ts'

/** What of the board is neither well nor waiting for a person, in words. */
export function unsettled({ processes, around }: Play): readonly string[] {
  const [first] = processes
  return (first?.board.list() ?? [])
    .filter(
      (status) =>
        !(
          isSettled(status) ||
          isGone(status, around.platform) ||
          isUnasked(status, first?.board.list() ?? [])
        ) || !isTrue(status, first?.deps.world.record(status.key)),
    )
    .map(({ key, status, reason, message }) => `${key} is ${status} (${reason}): ${message}`)
}

/** An outcome is unknown exactly as long as the last intent has none. */
function isTrue({ status }: ResourceStatus, record: LedgerRecord | undefined): boolean {
  return status !== 'OutcomeUnknown' || (record !== undefined && undecidedIntent(record) !== undefined)
}

/** The credentials of a service are taken for refused until somebody uses them: here nobody does. */
function isUnasked({ kind, name, reason }: ResourceStatus, board: readonly ResourceStatus[]): boolean {
  const isUsed = board.some(
    ({ service, lastReconciledAt, state, kind: other }) =>
      service === name && other === 'Pipe' && state !== undefined && lastReconciledAt !== undefined,
  )
  return kind === 'Service' && reason === 'AuthFailed' && !isUsed
}

/** Not proved, and never to be: no other pipe of the service is there to show that it can be seen. Or nobody ever saw it. */
function isGone({ reason, pipeId }: ResourceStatus, { pipes }: Play['around']['platform']): boolean {
  return UNPROVED.has(reason) && !pipes.has(pipeId ?? '')
}

const UNPROVED: ReadonlySet<string> = new Set([
  'NeverSeen',
  'MissingUnconfirmed',
  'MassMissing',
  'Missing',
  'ReplacedRecently',
])

function isSettled({ status, reason }: ResourceStatus): boolean {
  switch (status) {
    case 'Ready':
    case 'OutcomeUnknown':
    case 'Drifted':
    case 'Orphaned':
      return true
    // Words that contradict each other, as policies of several manifests may.
    case 'Invalid':
      return true
    case 'Refused':
      return reason === 'RenameSuspected' || reason === 'AdoptRefused' || reason === 'DependencyNotReady'
    case 'Failed':
    case 'NotReady':
    case 'Progressing':
    case 'Suspended':
    case 'Missing':
      return false
  }
}
