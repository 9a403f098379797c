import { alertExpectation } from '../kinds/alert/body.ts'
import { compareAlert } from '../kinds/alert/compare.ts'
import type { Entry } from '../kinds/catalog.ts'
import { kindOf, type Key } from '../kinds/key.ts'
import type { ObservedAlert, ObservedPipe } from '../kinds/observed.ts'
import { comparePipe } from '../kinds/pipe/compare.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Desired, Observed } from '../plan/input.ts'
import { missesAfter } from '../plan/missing.ts'
import type { LedgerRecord, RecordedPipe } from '../plan/record.ts'
import { recordedAccess, type DesiredService } from './access.ts'
import type { Deps, Turn } from './deps.ts'
import { noteFound, noteMissing } from './looks.ts'
import type { ReadOptions, Reply } from './ports.ts'
import { RemoteError } from './remote-error.ts'

/** What is to be asked of the platform, and what for. */
interface Question {
  readonly key: Key
  readonly entry: Entry | undefined
  readonly state: Desired['state']
  readonly recorded: LedgerRecord
  readonly service: DesiredService
  readonly turn: Turn
}

/** What the platform said when it was asked; `undefined`: it was not. */
type Answer = Reply<ObservedPipe> | Reply<ObservedAlert> | { readonly failure: unknown } | undefined

/**
 * Asks the platform, where there is something to ask for and the manifest does not say to leave it alone. Never rejects, so
 * that it may be waited for later.
 */
export async function askPlatform(
  deps: Deps,
  { key, entry, state, recorded, service, turn }: Question,
): Promise<Answer> {
  const options = { priority: turn.priority, signal: turn.stopping }
  try {
    if (state === 'absent' || state === 'vanishing' || isSuspended(entry, deps.clock.now())) return undefined
    const asked = questionOf(deps, { key, entry, recorded, service }, options)
    if (asked === undefined) return undefined
    const answer = await asked
    // What is there is neither created nor adopted in this turn.
    turn.leavePlace()
    return answer
  } catch (failure) {
    return { failure }
  }
}

function questionOf(
  { platform, world }: Deps,
  { key, entry, recorded, service }: Pick<Question, 'key' | 'entry' | 'recorded' | 'service'>,
  options: ReadOptions,
): Promise<Reply<ObservedPipe> | Reply<ObservedAlert>> | undefined {
  if (entry?.manifest?.kind === 'Alert') return platform.getAlert(entry.manifest.spec.id, options)
  const access = recordedAccess(world, recorded, service)
  if (kindOf(key) !== 'Pipe' || recorded.pipe === undefined || access === undefined) return undefined
  return platform.getPipe(access, recorded.pipe.id, options)
}

/** What is observed of a key, and what that makes of its record. */
interface Looked {
  readonly observed: Observed
  readonly recorded: LedgerRecord
  readonly failure: unknown
  readonly requestId: string | undefined
}

/** What an answer means for a key; it is remembered, and told. */
export function lookedAt(
  deps: Deps,
  asked: Pick<Question, 'key' | 'entry' | 'recorded'> & { readonly body: JsonObject | undefined },
  answer: Answer,
): Looked {
  const { recorded } = asked
  const unseen = { observed: { status: 'unseen' }, recorded, requestId: undefined } as const
  if (answer === undefined) return { ...unseen, failure: undefined }
  if (!('failure' in answer)) return found(deps, asked, answer)
  const { failure } = answer
  const isMissing = failure instanceof RemoteError && failure.facts.class === 'Missing'
  return isMissing && recorded.pipe !== undefined
    ? missing(deps, recorded, recorded.pipe, failure.facts.requestId)
    : { ...unseen, failure }
}

function found(
  deps: Deps,
  { key, entry, recorded, body }: Parameters<typeof lookedAt>[1],
  { value, requestId }: Reply<ObservedPipe> | Reply<ObservedAlert>,
): Looked {
  const manifest = entry?.manifest
  const isAlert = manifest?.kind === 'Alert'
  const desired = (isAlert ? alertExpectation(manifest) : body) ?? {}
  const differences = isAlert ? compareAlert(desired, value) : comparePipe(desired, value)
  const state = value.state ?? undefined
  noteFound(deps, key, { state, reply: value, desired, record: recorded, entry })
  deps.emit({ type: 'Observed', key, state, differences })
  return {
    observed: { status: 'found', state, differences },
    // An alert is never missed.
    recorded: recorded.misses === undefined ? recorded : { ...recorded, misses: undefined },
    failure: undefined,
    requestId,
  }
}

function missing(
  deps: Deps,
  recorded: LedgerRecord,
  pipe: RecordedPipe,
  requestId: string | undefined,
): Looked {
  noteMissing(deps, recorded.key)
  const misses = missesAfter({ misses: recorded.misses, createdAt: pipe.at, now: deps.clock.now() })
  return {
    observed: { status: 'missing' },
    recorded: { ...recorded, misses },
    failure: undefined,
    requestId,
  }
}

function isSuspended(entry: Entry | undefined, now: number): boolean {
  const manifest = entry?.manifest
  if (manifest === undefined || !('policy' in manifest)) return false
  return manifest.policy?.suspend !== undefined && Date.parse(manifest.policy.suspend.until) > now
}
