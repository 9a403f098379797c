import type { RemoteResource } from '../kinds/remote-resource.ts'
import { isReadable, type CreateOnceKind, type Operation } from '../kinds/definition.ts'
import type { Emit } from '../contract/events.ts'
import { createFence, notLeading, type RequestParts } from './handle-reply.ts'
import type { Looks, Platform, ReadTarget, ServiceAccess } from '../contract/platform.ts'
import { notSent } from '../contract/remote-error.ts'
import { createAccounts, admit, authenticated, type Caller } from './admission.ts'
import { createCredentialBreaker, type CredentialBreaker } from './credential-breaker.ts'
import type { Budget } from './budget.ts'
import { createPermit } from './send-create.ts'
import { serviceIdentity } from '../kinds/service/kind.ts'
import { createCredentials } from './login.ts'
import { BASE_URL_FLAG } from './failure.ts'
import { type NetworkSettings, openNetwork } from './network.ts'
import { send, takenPlaces, type Repeatable, type TakenPlaces } from './send.ts'
import {
  createdResource,
  listedResources,
  readingOf,
  resourceWithId,
  upsertedResource,
  baseOf,
  pathOf,
} from './wire.ts'

const ALERTS = 'alerts'
const ALERTS_CREDENTIAL = 'alerts token'

const MAX_REPLY_BYTES = 4 * 1024 * 1024
/** Enough for 8,000 pipes of 2 kB. Parsing them blocks the event loop for about 100 ms. */
const MAX_LIST_BYTES = 16 * 1024 * 1024
const RETRIES = 2
const LONGEST_CONNECT_MS = 10_000

export interface PlatformOptions extends Omit<
  RequestParts,
  'breaker' | 'fence' | 'maxReplyBytes' | 'retries'
> {
  /** If undefined, requests fail as `Unavailable`. */
  readonly baseUrl: string | undefined
  readonly alertsBaseUrl: string | undefined
  readonly alertsTokenFile: string
  readonly network: NetworkSettings
  readonly budget: { readonly requests: number; readonly windowMs: number }
  readonly maxReplyBytes?: number
  readonly idempotentRetries?: number
  /** Confirms leadership right before each change. @returns deadline for starting it, monotonic ms */
  readonly confirm?: (() => Promise<number>) | undefined
  readonly assertMayAct?: (() => void) | undefined
}

export interface PlatformClient extends Platform, AsyncDisposable {
  budgets(): readonly (ReturnType<Budget['snapshot']> & { readonly credential: string })[]
  pauses(): ReturnType<CredentialBreaker['pauses']>
  /** Services whose credentials were refused and have changed since. */
  renewed(): Promise<readonly string[]>
  probeNow(service: string): void
  /** A client that shares the budget. A refusal of its credentials does not block the daemon's requests. */
  beside(): Platform
}

export function createPlatform(options: PlatformOptions): PlatformClient {
  const { clock, requestTimeoutMs } = options
  const emit = quietly(options.emit)
  const bases = {
    services: options.baseUrl === undefined ? undefined : baseOf(options.baseUrl),
    alerts: options.alertsBaseUrl === undefined ? undefined : baseOf(options.alertsBaseUrl),
  }
  const network = openNetwork(options.network, Math.min(requestTimeoutMs, LONGEST_CONNECT_MS))
  const credentials = createCredentials(options)
  const accounts = createAccounts({ ...options.budget, requestTimeoutMs, clock, emit })
  const maxReplyBytes = options.maxReplyBytes ?? MAX_REPLY_BYTES
  const retries = options.idempotentRetries ?? RETRIES
  const breaker = createCredentialBreaker({ clock, emit })
  const fence = createFence(options.confirm)

  const callers = new Map<string, Caller>()

  function callerOf(operation: Operation, service: ServiceAccess | undefined): Caller {
    const { name, secretName } = service ?? { name: ALERTS, secretName: ALERTS_CREDENTIAL }
    const caller: Caller = {
      operation,
      service: name,
      ids: service === undefined ? '' : serviceIdentity(service),
      async login() {
        const login = await (service === undefined ? credentials.bearer() : credentials.basic(secretName))
        return accounts.join(secretName, login)
      },
    }
    callers.set(`${operation.api} ${name}`, caller)
    return caller
  }

  /** @throws {RemoteError} if the base URL is not set, or for an id that no path can carry */
  function callOf(operation: Operation, service: ServiceAccess | undefined, id = '') {
    const { api, path } = operation
    const caller = callerOf(operation, service)
    const base = bases[api]
    const setting = BASE_URL_FLAG[api]
    if (base === undefined) throw notSent('Unavailable', `${setting} is not set`, { setting })
    return {
      caller,
      way: network.wayTo(base.origin),
      origin: base.origin,
      path: base.path + pathOf(path, { ...service, id }),
    }
  }

  function readOf({ kind, service, id }: ReadTarget): Repeatable<RemoteResource> {
    const operation = readingOf(kind, service)
    return { ...callOf(operation, service, id), readValue: resourceWithId(kind, operation, id) }
  }

  function listOf(kind: CreateOnceKind, service: ServiceAccess): Repeatable<readonly RemoteResource[]> {
    const operation = needed(kind.operations.list, `for all ${kind.noun}s`)
    return {
      ...callOf(operation, service),
      readValue: listedResources(kind),
      maxReplyBytes: MAX_LIST_BYTES,
    }
  }

  function looksIn(places: TakenPlaces, service: ServiceAccess): Looks {
    return {
      read: (target, readOptions) => places.look(readOf(target), readOptions),
      list: (kind, readOptions) => places.look(listOf(kind, service), readOptions),
      get lookCostsMs() {
        return places.lookCostsMs()
      },
    }
  }

  function operationsWith(ownBreaker: CredentialBreaker): Platform {
    const parts = { ...options, emit, breaker: ownBreaker, fence, maxReplyBytes, retries }
    return {
      read: async (target, readOptions) => send(readOf(target), parts, readOptions),
      list: async (kind, service, readOptions) => send(listOf(kind, service), parts, readOptions),
      async admitCreate(kind, service, { looks, ...readOptions }) {
        try {
          options.assertMayAct?.()
        } catch (error) {
          throw notLeading(error)
        }
        const call = callOf(kind.operations.create, service)
        const admission = await admit(call.caller, ownBreaker, { ...readOptions, places: looks + 1 })
        const places = takenPlaces(admission, call.caller, parts)
        const own = { service, places, looks: looksIn(places, service), readValue: createdResource(kind) }
        return createPermit({ ...call, ...own }, parts)
      },
      async upsert(kind, service, body, readOptions) {
        const upsert: Repeatable<RemoteResource> = {
          ...callOf(kind.operations.upsert, service),
          body: (places) => body(looksIn(places, service)),
          places: isReadable(kind) ? 2 : 1,
          readValue: upsertedResource(kind),
        }
        return send(upsert, parts, readOptions)
      },
      async remove({ kind, service, id }, check, readOptions) {
        const remove: Repeatable<object> = {
          ...callOf(needed(kind.operations.delete, `to delete a ${kind.noun}`), service, id),
          body: async (places) => {
            await check(looksIn(places, service))
            return undefined
          },
          places: 3,
          readValue: (json) => json,
        }
        return send(remove, parts, readOptions)
      },
      async change({ kind, way, service, id, isRepeatable }, body, readOptions) {
        const change: Repeatable<object> = {
          ...callOf(needed(kind.operations[way], `to ${way} a ${kind.noun}`), service, id),
          body: (places) => body(looksIn(places, service)),
          places: 2,
          readValue: (json) => json,
          ...(!isRepeatable && { retries: 0 }),
        }
        return send(change, parts, readOptions)
      },
    }
  }

  return {
    ...operationsWith(breaker),
    beside: () => operationsWith(createCredentialBreaker({ clock, emit: () => undefined })),
    budgets: () =>
      [...accounts.entries()].map(([credential, { budget }]) => ({ credential, ...budget.snapshot() })),
    pauses: () => breaker.pauses(),
    probeNow: (service) => breaker.probeNow(service),
    async renewed() {
      const services = new Set<string>()
      for (const { service, operation, digest } of breaker.refused()) {
        const now = await digestNow(callers.get(`${operation.api} ${service}`))
        if (now !== undefined && now !== digest) services.add(service)
      }
      return [...services]
    },
    [Symbol.asyncDispose]: () => network[Symbol.asyncDispose](),
  }
}

async function digestNow(caller: Caller | undefined): Promise<string | undefined> {
  try {
    return caller && authenticated(caller, await caller.login()).digest
  } catch {
    return undefined
  }
}

/** Ignores a listener's error, because it could end the process before a new pipe's id is durable. */
function quietly(emit: Emit): Emit {
  return (event) => {
    try {
      emit(event)
    } catch {
      // only the failed listener could report the error
    }
  }
}

function needed(operation: Operation | undefined, purpose: string): Operation {
  if (operation === undefined) throw new Error(`there is no request ${purpose}`)
  return operation
}
