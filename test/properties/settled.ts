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
        !(isSettled(status) || isGone(status, around.platform)) ||
        !isTrue(status, first?.deps.world.record(status.key)),
    )
    .map(({ key, status, reason, message }) => `${key} is ${status} (${reason}): ${message}`)
}

/** An outcome is unknown exactly as long as the last intent has none. */
function isTrue({ status }: ResourceStatus, record: LedgerRecord | undefined): boolean {
  return status !== 'OutcomeUnknown' || (record !== undefined && undecidedIntent(record) !== undefined)
}

/** Not proved, and never to be: no other pipe of the service is there to show that it can be seen. Or nobody ever saw it. */
function isGone({ reason, pipeId }: ResourceStatus, { pipes }: Play['around']['platform']): boolean {
  return (reason === 'NeverSeen' || reason === 'MissingUnconfirmed') && !pipes.has(pipeId ?? '')
}

function isSettled({ status, reason }: ResourceStatus): boolean {
  switch (status) {
    case 'Ready':
    case 'OutcomeUnknown':
    case 'Drifted':
    case 'Orphaned':
      return true
    // Only to be reported, or too many at once: a person says what is right.
    case 'Missing':
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
      return false
  }
}
