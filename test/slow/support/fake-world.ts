import { randomUUID } from 'node:crypto'

/** What the platform answers by itself: the envelope, and the status it goes with. */
export interface Answer {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
}

/** What is asked of the platform, and by whom. */
export interface Asked {
  readonly operation: 'createPipe' | 'getPipe' | 'upsertQueryEndpoint' | 'getAlert' | 'other'
  /** The id of the key of its Basic credentials. */
  readonly keyId: string | undefined
  readonly serviceId: string | undefined
  /** The last name in the path of what is created: `pipes`. */
  readonly collection: string | undefined
  /** Of a pipe or an alert, as it stands in the path. */
  readonly id: string | undefined
  readonly idempotencyKey: string | undefined
  /** As much of the body as came. */
  readonly text: string
}

/** A service, and the keys that may do something in it. */
export interface FakeService {
  readonly serviceId: string
  /** Ids of keys; their secrets are not looked at. */
  readonly keyIds: readonly string[]
}

/** A pipe that exists, as a GET shows it. */
export interface FakePipe {
  readonly id: string
  readonly serviceId: string
  readonly collection: string | undefined
  name: string
  state: string
  createdAt: string
  updatedAt: string
  /** The Idempotency-Key of the create that made it: the platform makes nothing of it, tests do. */
  readonly madeBy: string | undefined
  /** All else of its body. */
  readonly rest: Readonly<Record<string, unknown>>
}

/** Fields of a request that no reply shows (`spec/api.md` 2.1). */
const REQUEST_ONLY = new Set(['credentials', 'accessKey', 'roles', 'validateSamples'])

/** What exists behind a platform, and who sees it; each member is a knob that a test turns. */
export class FakeWorld {
  readonly pipes: FakePipe[] = []
  readonly services: readonly FakeService[]
  /** Ids of pipes that a GET does not find, though they exist. */
  readonly hidden = new Set<string>()
  /** Ids of keys that lost the permission: no pipe is found with them, and a write is forbidden. */
  readonly forbidden = new Set<string>()
  /** Ids of services that are idle: 424 to everything. */
  readonly idle = new Set<string>()
  /** The last configuration of each service's query endpoint. */
  readonly endpoints = new Map<string, Readonly<Record<string, unknown>>>()
  /** Alerts by id. */
  readonly alerts = new Map<string, Record<string, unknown>>()

  constructor(services: readonly FakeService[]) {
    this.services = services
  }

  /** All pipes with this name, oldest first. */
  named(name: string): readonly FakePipe[] {
    return this.pipes.filter((pipe) => pipe.name === name)
  }

  /** The one pipe with this name. @throws when there is none, or another one */
  pipe(name: string): FakePipe {
    const [pipe, ...more] = this.named(name)
    if (pipe === undefined || more.length > 0) throw new Error(`there are ${more.length + 1} pipes ${name}`)
    return pipe
  }

  /** Does what is asked for, and answers it. */
  work(request: Asked): Answer {
    if (request.operation === 'getAlert') {
      const alert = this.alerts.get(request.id ?? '')
      return alert === undefined ? this.refusal(404) : { status: 200, json: { data: alert } }
    }
    const service = this.services.find(({ serviceId }) => sameId(serviceId, request.serviceId))
    if (request.keyId === undefined || service?.keyIds.includes(request.keyId) === false)
      return this.refusal(401)
    if (service === undefined) return this.refusal(404)
    if (this.idle.has(service.serviceId)) return this.refusal(424)
    const isForbidden = this.forbidden.has(request.keyId)
    switch (request.operation) {
      case 'createPipe':
        return isForbidden ? this.refusal(403) : this.create(service, request)
      case 'getPipe':
        return isForbidden ? this.refusal(404) : this.read(service, request)
      case 'upsertQueryEndpoint':
        return isForbidden ? this.refusal(403) : this.upsert(service, request)
      case 'other':
        return this.refusal(404)
    }
  }

  /** An error in the platform's own envelope. */
  refusal(status: number): Answer {
    return { status, json: { status, requestId: randomUUID(), error: `refused with ${status}` } }
  }

  private create({ serviceId }: FakeService, { collection, text, idempotencyKey }: Asked): Answer {
    const { name, ...rest } = JSON.parse(text) as { readonly name: string } // a test sees to that
    const now = new Date().toISOString()
    const pipe: FakePipe = {
      id: randomUUID(),
      serviceId,
      collection,
      name,
      state: 'Running',
      createdAt: now,
      updatedAt: now,
      madeBy: idempotencyKey,
      rest: shown(rest) as Readonly<Record<string, unknown>>,
    }
    this.pipes.push(pipe)
    return done(viewOf(pipe))
  }

  private read({ serviceId }: FakeService, { collection, id = '' }: Asked): Answer {
    const pipe = this.pipes.find(
      (candidate) => sameId(candidate.id, id) && candidate.collection === collection,
    )
    const isThere = pipe !== undefined && pipe.serviceId === serviceId && !this.hidden.has(pipe.id)
    return isThere ? done(viewOf(pipe)) : this.refusal(404)
  }

  private upsert({ serviceId }: FakeService, { text }: Asked): Answer {
    const endpoint = { id: `endpoint-of-${serviceId}`, ...(JSON.parse(text) as object) }
    this.endpoints.set(serviceId, endpoint)
    return done(endpoint)
  }
}

function viewOf({ rest, madeBy, collection, ...pipe }: FakePipe): Readonly<Record<string, unknown>> {
  void [madeBy, collection] // nobody is shown them
  return { ...rest, ...pipe }
}

function done(result: unknown): Answer {
  return { status: 200, json: { status: 200, requestId: randomUUID(), result } }
}

function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shown)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name]) => !REQUEST_ONLY.has(name))
  return Object.fromEntries(members.map(([name, member]) => [name, shown(member)]))
}

function sameId(a: string, b: string | undefined): boolean {
  return a.toLowerCase() === b?.toLowerCase()
}
