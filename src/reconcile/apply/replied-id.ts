import type { AdoptRequest } from './adopt-existing.ts'
import type { Key } from '../../kinds/key.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import { excerptOfId } from '../../lib/excerpt.ts'
import { sameId } from '../../lib/same-id.ts'
import type { ServiceIdentity, Intent, Remote } from '../../plan/record.ts'
import { anyOf, nounOf } from '../../kinds/lookup.ts'
import { createOnceKindOf } from '../../kinds/profile.ts'
import { isDeleting } from '../../kinds/state.ts'
import { isOlder } from '../../plan/outcome-unknown.ts'
import type { ReconcileContext } from '../context.ts'
import type { ReadOptions, Reply } from '../../contract/platform.ts'
import { isRequestError } from './outcome-of-error.ts'

/** Why the id in a reply cannot be the new pipe's. */
export function mismatchOf(
  { store, profile, mask }: ReconcileContext,
  expected: { readonly key: Key; readonly service: ServiceIdentity; readonly name: string },
  { value }: Pick<Reply<RemoteResource>, 'value'>,
): string | undefined {
  const { id, serviceId, name } = value
  const shown = (text: string) => excerptOfId(text, mask)
  const answered = `the platform answered 200 with the id "${shown(id)}"`
  const form = createOnceKindOf(profile, expected.key).idForm
  if (!form.matches(id)) return `${answered}, which ${form.not}`
  const holder = store.holderOf(id, expected.key) ?? store.claimantOf(id, expected.key)
  if (holder !== undefined) return `${answered}, which belongs to ${holder}`
  if (typeof serviceId === 'string' && !sameId(serviceId, expected.service.serviceId))
    return `${answered}, which is of another service, "${shown(serviceId)}"`
  if (typeof name === 'string' && name !== expected.name)
    return `${answered}, which is of ${anyOf(nounOf(expected.key))} with another name, "${shown(name)}"`
  return undefined
}

export type ReadOfId =
  | { readonly is: 'the created one'; readonly remote: Remote; readonly reply: Reply<RemoteResource> }
  | { readonly is: 'another' }
  | { readonly is: 'not known' }

/**
 * Reads the pipe with the id in a reply. If service and name match, and the pipe is not older than the intent, the
 * pipe counts as the created one, and is reserved for the key.
 * @throws the signal's reason on abort
 */
export async function readRepliedId(
  { profile, platform, store, clock }: ReconcileContext,
  replied: Pick<AdoptRequest, 'recorded' | 'access' | 'pipeId' | 'revision'> & { readonly intent: Intent },
  options: ReadOptions,
): Promise<ReadOfId> {
  const { recorded, intent, access, pipeId, revision } = replied
  let reply: Reply<RemoteResource>
  try {
    reply = await platform.read(
      { kind: createOnceKindOf(profile, recorded.key), service: access, id: pipeId },
      options,
    )
  } catch (error) {
    if (isRequestError(error)) return { is: 'not known' }
    throw error
  }
  const { id, serviceId, name, createdAt, state } = reply.value
  // While the pipe is being deleted, the outcome stays unknown.
  if (isDeleting(createOnceKindOf(profile, recorded.key).changes?.rest, state)) return { is: 'not known' }
  const isOurs = sameId(serviceId ?? access.serviceId, access.serviceId) && name === recorded.platformName
  if (!isOurs || store.holderOf(id, recorded.key) !== undefined) return { is: 'another' }
  // A pipe older than the intent is probably another pipe. A clock can be wrong, so an operator decides.
  if (isOlder(createdAt, intent) !== false) return { is: 'not known' }
  if (store.claimantOf(id, recorded.key) !== undefined) return { is: 'not known' }
  store.claim(recorded.key, id)
  const at = clock.now()
  const { requestId } = reply
  const remote: Remote = { id, origin: 'created', at, revision, requestId, seenAt: at }
  return { is: 'the created one', remote, reply }
}
