import type { ResourceStatus, StatusBoard } from '../../contract/status.ts'
import { tellingCondition } from '../../contract/status.ts'
import type { Key } from '../../kinds/key.ts'
import { secretRefsIn } from '../../kinds/secret-ref.ts'
import type { Status } from '../../plan/severity.ts'
import type { ReconcileContext } from '../context.ts'

type Known = Pick<ReconcileContext, 'store'>

/** Of these nothing is asked or sent, whatever stands in the way of others. */
const LEFT_ALONE: ReadonlySet<Status> = new Set(['Suspended', 'Orphaned', 'Invalid'])

/** Whom the cause of a problem concerns, as far as that is known when the first of them has it; that one comes first. */
export function keysConcerned({ store }: Known, board: StatusBoard, first: ResourceStatus): readonly Key[] {
  const { key, reason, service } = first
  const { facts } = tellingCondition(first)
  const others = board.list().filter((other) => other.key !== key && !LEFT_ALONE.has(other.status))
  if (reason === 'ServiceIdle' || (reason === 'AuthFailed' && !isOfOperation(facts)))
    return keysOf(first, others, (other) => other.service === service)
  if (reason === 'DependencyNotReady' && facts !== undefined && 'waitsFor' in facts) {
    const waiting = new Set(facts.waitsFor.flatMap((needed) => store.dependents(needed)))
    return keysOf(first, others, (other) => waiting.has(other.key))
  }
  if (
    reason === 'SecretUnavailable' &&
    facts !== undefined &&
    'missing' in facts &&
    Array.isArray(facts.missing)
  ) {
    if (facts.missing.some(({ of }) => of !== undefined))
      return keysOf(first, others, (other) => other.service === service)
    const files = facts.missing.map(({ file }) => file)
    return keysOf(first, others, (other) => refersTo({ store }, other.key, files))
  }
  return [key]
}

function keysOf(
  first: ResourceStatus,
  others: readonly ResourceStatus[],
  isConcerned: (other: ResourceStatus) => boolean,
): readonly Key[] {
  return [first.key, ...others.filter(isConcerned).map(({ key }) => key)]
}

/** Whether the platform forbids one operation, and lets the rest pass. */
function isOfOperation(facts: object | undefined): boolean {
  return facts !== undefined && 'refuses' in facts && facts.refuses === 'an operation'
}

/** @param files `<secrets-dir>/<name>/<key>` */
function refersTo({ store }: Known, key: Key, files: readonly string[]): boolean {
  const manifest = store.entry(key)?.manifest
  const asked = manifest && store.asked(manifest)
  if (asked === undefined) return false
  const named = new Set(secretRefsIn(asked.body).map(({ ref }) => `/${ref.name}/${ref.key}`))
  return [...named].some((ending) => files.some((file) => file.endsWith(ending)))
}
