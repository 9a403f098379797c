import type { RemoteResource } from '../kinds/remote-resource.ts'
import type { CreatePermit, ReadOptions, ReadTarget, Reply, ServiceAccess } from '../reconcile/ports.ts'
import { RemoteError } from '../reconcile/remote-error.ts'
import { admit, type Admission, type Caller } from './admission.ts'
import { sendCreate, type CreateParts } from './create-pipe.ts'
import { perform, type Read, type ReadParts } from './read.ts'
import type { ReadValue } from './reply-body.ts'
import type { Base } from './wire.ts'

/** What a permit was given for. */
interface Permitted {
  readonly service: ServiceAccess
  readonly caller: Caller
  readonly admission: Admission
  readonly base: Base
  readonly path: string
  readonly readOf: (target: ReadTarget) => Read<RemoteResource>
  readonly readValue: ReadValue<RemoteResource>
}

/** The right to send one create, and to read one resource before. Each at most once, whatever happens. */
export function createPermit(
  permitted: Permitted,
  parts: { readonly creating: CreateParts; readonly reading: ReadParts },
): CreatePermit {
  const { creating, reading } = parts
  const { gate } = creating
  let { admission } = permitted
  let used = false

  async function readFirst(target: ReadTarget, options: ReadOptions): Promise<Reply<RemoteResource>> {
    const read = permitted.readOf(target)
    const { service, operation } = read.caller
    const login = await read.caller.login()
    const visitor = { service, operation, digest: login.digest, source: login.source }
    gate.enter(visitor)
    const place = admission.spare ?? admission.place
    const result = await perform(
      read,
      {
        admission: { login, visitor, place, spare: undefined },
        body: undefined,
        notAfter: Infinity,
        signal: options.signal,
      },
      reading,
    )
    if (result instanceof RemoteError && result.facts.class !== 'Missing') throw result
    // A budget of one: the place is used up, and the create needs another.
    if (admission.spare === undefined)
      admission = await admit(permitted.caller, gate, { ...options, places: 1 })
    if (result instanceof RemoteError) throw result
    return result
  }

  return {
    service: permitted.service,
    deadlineMs: creating.deadlineMs,
    read: readFirst,
    async send(request) {
      if (used) throw new Error('a permit to create was used twice')
      used = true
      return sendCreate({ ...permitted, admission, request }, creating)
    },
    release() {
      admission.spare?.release()
      admission.place.release()
    },
  }
}
