import type { RemoteResource } from '../kinds/remote-resource.ts'
import { createOnceKindOf } from '../kinds/lookup.ts'
import { instantOf } from '../kinds/instant.ts'
import { sameId } from '../lib/same-id.ts'
import { CLOCKS_APART_MS } from '../plan/outcome-unknown.ts'
import type { Intent, LedgerRecord, RecordedPipe } from '../plan/record.ts'
import type { Deps } from './deps.ts'
import { type ReadOptions, type Reply, type ServiceAccess, SecretUnavailableError } from './ports.ts'
import { RemoteError } from './remote-error.ts'

/** An id that the unfinished reply to a create held. */
export interface RepliedId {
  readonly recorded: LedgerRecord
  readonly intent: Intent
  readonly access: ServiceAccess
  readonly pipeId: string
  readonly revision: string
}

/** What one reading said of it. */
export type ReadOfId =
  | { readonly is: 'the new pipe'; readonly pipe: RecordedPipe; readonly reply: Reply<RemoteResource> }
  | { readonly is: 'another' }
  /** It could not be read, or is not found, yet. */
  | { readonly is: 'not known' }

/**
 * Reads the pipe with that id (`spec/api.md` 4.2): it is the one that was asked for when it is of the same service, has the same
 * name, and was created since the intent.
 * @throws the signal's reason once it is aborted
 */
export async function readRepliedId(
  { platform, world, clock }: Pick<Deps, 'platform' | 'world' | 'clock'>,
  replied: RepliedId,
  options: ReadOptions,
): Promise<ReadOfId> {
  const { recorded, intent, access, pipeId, revision } = replied
  let reply: Reply<RemoteResource>
  try {
    reply = await platform.read(
      { kind: createOnceKindOf(recorded.key), service: access, id: pipeId },
      options,
    )
  } catch (error) {
    if (error instanceof RemoteError || error instanceof SecretUnavailableError) return { is: 'not known' }
    throw error
  }
  const { id, serviceId, name, createdAt } = reply.value
  const since = instantOf(createdAt ?? '') ?? -Infinity
  const isOurs =
    sameId(serviceId ?? access.serviceId, access.serviceId) &&
    name === recorded.platformName &&
    since >= intent.openedAt - CLOCKS_APART_MS
  if (!isOurs || world.holderOf(id, recorded.key) !== undefined) return { is: 'another' }
  const at = clock.now()
  const { requestId } = reply
  const pipe: RecordedPipe = {
    id,
    origin: 'created',
    at,
    revision,
    requestId,
    seenAt: at,
    saidGoneAt: undefined,
    refutedAt: undefined,
  }
  return { is: 'the new pipe', pipe, reply }
}
