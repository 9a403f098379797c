import { returnedBody, type RemoteResource } from '../../kinds/remote-resource.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { CreatePermit, Looks, Platform, Reply, ServiceAccess } from '../../contract/platform.ts'
import type { ReconcileContext } from '../context.ts'

const NO_CREDENTIAL = 'dry run'

const DEADLINE_MS = 20_000

const FIRST_STATE = 'Provisioning'

/** Reads from the real platform, but keeps creates and upserts in memory. */
export function createDryPlatform(
  platform: Pick<Platform, 'read' | 'list'>,
  { clock, newId }: Pick<ReconcileContext, 'clock' | 'newId'>,
): Platform {
  const made = new Map<string, Reply<RemoteResource> & { readonly kind: string | undefined }>()

  const read: Platform['read'] = async (target, options) =>
    made.get(target.id) ?? target.listed ?? platform.read(target, options)

  const list: Platform['list'] = async (kind, service, options) => {
    const there = await platform.list(kind, service, options)
    const here = [...made.values()].filter((each) => each.kind === kind.name).map(({ value }) => value)
    const inService = here.filter(({ serviceId }) => serviceId === service.serviceId)
    return { ...there, value: [...there.value, ...inService] }
  }

  const looksAt = (service: ServiceAccess): Looks => ({
    read,
    list: (kind, options) => list(kind, service, options),
    lookCostsMs: 0,
  })

  return {
    read,
    list,
    async admitCreate(kind, service): Promise<CreatePermit> {
      return {
        ...looksAt(service),
        service,
        deadlineMs: DEADLINE_MS,
        waitedMs: 0,
        async send({ body }) {
          const asked = JSON.parse(body) as JsonObject // the body of a create is an object
          const id = kind.idForm.madeOf(newId())
          const at = new Date(clock.now()).toISOString()
          const about = {
            id,
            serviceId: service.serviceId,
            state: kind.firstState ?? FIRST_STATE,
            createdAt: at,
            updatedAt: at,
          }
          const reply = replyOf({ ...returnedBody(kind.fields, asked), ...about })
          made.set(id, { ...reply, kind: kind.name })
          return reply
        },
        release: () => undefined,
      }
    },
    async upsert(_kind, service, makeBody) {
      const body = JSON.parse(await makeBody(looksAt(service))) as JsonObject // a body is an object
      const reply = replyOf({ ...body, id: service.serviceId })
      made.set(service.serviceId, { ...reply, kind: undefined })
      return reply
    },
    async remove({ service }, check) {
      await check(looksAt(service))
      return undefined
    },
    async change({ service }, makeBody) {
      await makeBody(looksAt(service))
      return undefined
    },
  }
}

function replyOf(value: RemoteResource): Reply<RemoteResource> {
  return { value, requestId: undefined, credential: NO_CREDENTIAL }
}
