import type { Key } from '../kinds/key.ts'
import type { RemoteResource } from '../kinds/remote-resource.ts'
import { isUuid, sameId } from '../lib/same-id.ts'
import type { ServiceIdentity } from '../plan/record.ts'
import type { World } from './world.ts'

/* An id in a reply is judged before it is believed (design §5.3): it may be another's, or none at all. */

/** What was asked for. */
interface Expected {
  readonly key: Key
  readonly service: ServiceIdentity
  /** Of the pipe on the platform. */
  readonly name: string
}

/** Longest text of a reply that is shown, in characters. */
const LONGEST = 64

/** Why the id of a reply to a create cannot be that of the new pipe, in words that name it; undefined: it can. */
export function doubtOf(world: World, expected: Expected, pipe: RemoteResource): string | undefined {
  const { id, serviceId, name } = pipe
  const answered = `the platform answered 200 with the id "${shown(id)}"`
  if (!isUuid(id)) return `${answered}, which is no UUID`
  const holder = world.holderOf(id, expected.key)
  if (holder !== undefined) return `${answered}, which is that of ${holder}`
  if (typeof serviceId === 'string' && !sameId(serviceId, expected.service.serviceId))
    return `${answered}, which is of another service, "${shown(serviceId)}"`
  if (typeof name === 'string' && name !== expected.name)
    return `${answered}, which is of a pipe with another name, "${shown(name)}"`
  return undefined
}

function shown(text: string): string {
  const plain = text.slice(0, LONGEST).replace(/[\p{C}\p{Z}]/gu, ' ')
  return text.length > LONGEST ? `${plain}…` : plain
}
