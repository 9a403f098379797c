import type { Key } from '../kinds/key.ts'
import type { RemoteResource } from '../kinds/remote-resource.ts'
import { createOnceKindOf } from '../kinds/lookup.ts'
import { sameId } from '../lib/same-id.ts'
import { undecidedIntent } from '../plan/outcome-unknown.ts'
import { messageOf, type Because } from '../plan/reason.ts'
import type { Fingerprint, LedgerRecord, ServiceIdentity } from '../plan/record.ts'
import { replacedAfter } from '../plan/replacement.ts'
import { adoptPipe } from '../plan/transitions.ts'
import { newsIn } from './current-record.ts'
import type { Deps } from './deps.ts'
import type { HistoryEntry } from './history.ts'
import { isUnclaimed } from './kin.ts'
import type { ReadOptions, Reply, ServiceAccess } from './ports.ts'
import { RemoteError } from './remote-error.ts'
import { saysGone } from './said-gone.ts'
import type { World } from './world.ts'

/** A pipe that exists and is to belong to a key from now on, as a manifest, a Lock or a person says. */
export interface TakeOver {
  readonly recorded: LedgerRecord
  readonly pipeId: string
  readonly access: ServiceAccess
  readonly service: ServiceIdentity
  readonly platformName: string
  /** What is asked for now. */
  readonly fingerprint: Fingerprint
  readonly revision: string
}

export type TakenOver =
  | {
      readonly taken: true
      /** Not yet written. */
      readonly record: LedgerRecord
      readonly reply: Reply<RemoteResource>
      readonly because: Because<'Adopted'>
      readonly history: readonly HistoryEntry[]
    }
  | { readonly taken: false; readonly why: string }

/**
 * Asks the platform for the pipe (`spec/api.md` 4.2) and makes the record that holds it.
 * @throws {RemoteError} and what else a request throws, but for a pipe that is not there
 */
export async function takeOver(
  deps: Pick<Deps, 'platform' | 'clock' | 'world' | 'ledger'>,
  wanted: TakeOver,
  options: ReadOptions,
): Promise<TakenOver> {
  const { platform, clock, world } = deps
  const { recorded, pipeId, access, service, revision } = wanted
  const { key } = recorded
  const held = heldElsewhere(world, pipeId, key)
  if (held !== undefined) return refused(held)
  let reply
  try {
    reply = await platform.read({ kind: createOnceKindOf(key), service: access, id: pipeId }, options)
  } catch (error) {
    if (!(error instanceof RemoteError) || error.facts.class !== 'Missing') throw error
    const where = `service ${service.name} (${service.serviceId})`
    return refused(`There is no pipe ${pipeId} in ${where}. Correct the id; nothing is created meanwhile.`)
  }
  const { value: pipe, requestId } = reply
  const owner = pipe.serviceId ?? service.serviceId
  if (!sameId(owner, service.serviceId)) {
    return refused(`Pipe ${pipeId} belongs to another service, ${owner}.`)
  }
  // The answer took its time: somebody else may have it by now, another process too.
  const since = heldElsewhere(world, pipeId, key) ?? (await heldMeanwhile(deps, pipeId, key))
  if (since !== undefined) return refused(since)
  const at = clock.now()
  const record = adoptPipe(recorded, {
    pipe: {
      id: pipe.id,
      origin: 'adopted',
      at,
      revision,
      requestId,
      seenAt: at,
      saidGoneAt: undefined,
      refutedAt: saysGone(world.entry(key), pipe.id) ? at : undefined,
    },
    replaced: replacedAfter(recorded.replaced, recorded.former?.pipe.id, world.steadyNow()),
    service,
    platformName: wanted.platformName,
    fingerprint: baselineOf(recorded, wanted.fingerprint, pipe.id),
  })
  const because = {
    reason: 'Adopted',
    facts: { pipeId: pipe.id, inPlaceOf: inPlaceOf(recorded, pipe.id) },
  } as const
  const history: HistoryEntry = {
    type: 'action',
    action: 'adopt',
    reason: 'Adopt',
    result: 'done',
    intentId: undecidedIntent(recorded)?.id,
    key,
    at,
    revision,
    requestId,
    message: messageOf(because),
  }
  return { taken: true, record, reply, because, history: [history] }
}

/** The same of what another process has written meanwhile. */
async function heldMeanwhile(
  deps: Pick<Deps, 'ledger' | 'world'>,
  pipeId: string,
  but: Key,
): Promise<string | undefined> {
  const holder = (await newsIn(deps)).find(({ key, pipe }) => key !== but && sameId(pipe?.id, pipeId))
  return holder && `Pipe ${pipeId} is ${holder.key} already; one pipe belongs to one manifest.`
}

/** Says which other key holds a pipe, if one does. */
export function heldElsewhere(world: World, pipeId: string, but: Key): string | undefined {
  const key = world.holderOf(pipeId, but)
  if (key === undefined) return undefined
  const held = `Pipe ${pipeId} is ${key} already; one pipe belongs to one manifest.`
  if (!isUnclaimed(world.desiredState(key))) return held
  const command = `pipewright forget ${key}`
  return `${held} ${key} has no manifest any more: if ${but} is its new name, run "${command}"; the pipe can be taken over then.`
}

/**
 * What the pipe is compared with from now on. The one that an unknown create may have made has what was asked for
 * then: edits and rotated secrets since must show, also in the fields that the platform does not report.
 */
function baselineOf(recorded: LedgerRecord, asked: Fingerprint, pipeId: string): Fingerprint {
  const { former, applied } = recorded
  if (sameId(former?.pipe.id, pipeId)) return former?.applied ?? asked
  return undecidedIntent(recorded) === undefined ? asked : (applied ?? asked)
}

/** The id that is given up. */
function inPlaceOf({ pipe, former }: LedgerRecord, id: string): string | undefined {
  const before = pipe ?? former?.pipe
  return before === undefined || sameId(before.id, id) ? undefined : before.id
}

function refused(why: string): TakenOver {
  return { taken: false, why }
}
