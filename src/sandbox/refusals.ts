import { type Answer, failure } from './answer.ts'
import { type Call, serviceOf } from './call.ts'
import type { Dialect } from './dialect.ts'
import type { Fixture } from './fixture.ts'
import type { Storage } from './storage.ts'

export interface Refusals {
  readonly refuse: (call: Call, status: number, error: string) => Answer
  /** A malformed id or an unknown service. */
  readonly objectionToPath: (call: Call) => Answer | undefined
  readonly objectionToService: (call: Call) => Answer | undefined
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const RUNNING = 'running'

export function createRefusals({
  storage,
  services,
  dialect,
}: {
  readonly storage: Storage
  /** Undefined: all services exist. */
  readonly services: Fixture['services']
  readonly dialect: Dialect
}): Refusals {
  return { refuse, objectionToPath, objectionToService }

  function objectionToPath(call: Call): Answer | undefined {
    const bad = Object.entries(call.params).find(([, value]) => !UUID.test(value))
    if (bad !== undefined) return refuse(call, 400, `${bad[0]}: must be a UUID`)
    const asked = serviceOf(call)
    const known =
      services?.some(
        ({ organizationId, serviceId }) =>
          organizationId.toLowerCase() === asked.organizationId &&
          serviceId.toLowerCase() === asked.serviceId,
      ) ?? true
    return known ? undefined : refuse(call, 404, 'no such service in this organization')
  }

  function objectionToService(call: Call): Answer | undefined {
    const { organizationId, serviceId } = serviceOf(call)
    const state = storage.service(organizationId, serviceId)?.state ?? RUNNING
    return state === RUNNING ? undefined : refuse(call, 424, `the service has to be running; it is ${state}`)
  }

  function refuse({ requestId }: Call, status: number, error: string): Answer {
    return failure(requestId, status, dialect.refusal(status, error))
  }
}
