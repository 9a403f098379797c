import type { RemoteResource } from '../kinds/remote-resource.ts'
import type { Clock } from '../lib/clock.ts'
import { isReadable, type CreateOnceKind, type Operation } from '../kinds/definition.ts'
import type { Emit } from '../contract/events.ts'
import type { Fail } from '../contract/failpoint.ts'
import type { Looks, Platform, ReadTarget, ServiceAccess } from '../contract/platform.ts'
import { notSent } from '../contract/remote-error.ts'
import { createAccounts, admit, type Caller } from './admission.ts'
import { createCredentialBreaker, type CredentialBreaker, type Pause } from './credential-breaker.ts'
import type { BudgetSnapshot } from './budget.ts'
import type { FreshSecrets } from './secret-store.ts'
import { createPermit } from './send-create.ts'
import { createCredentials, type Login } from './login.ts'
import { createEarlyFence, createFence } from './fence.ts'
import { BASE_URL_FLAG } from './failure.ts'
import { type NetworkSettings, openNetwork, type Way } from './network.ts'
import { send, type Read, type TakenPlaces } from './read.ts'
import {
  anything,
  createdResource,
  listedResources,
  readingOf,
  resourceWithId,
  upsertedResource,
  baseOf,
  DEFAULT_WIRE,
  pathOf,
  type Base,
} from './wire.ts'

/** The service, the label and the credential of alerts; a service cannot have a name with a space. */
const ALERTS = 'alerts'
const ALERTS_CREDENTIAL = 'alerts token'

const MAX_REPLY_BYTES = 4 * 1024 * 1024
/** A list holds every pipe of a service: 8,000 of 2 kB. Parsing it blocks the event loop for about 100 ms. */
const MAX_LIST_BYTES = 16 * 1024 * 1024
/** A create and its looks. */
const PLACES = { 0: 1, 1: 2, 2: 3 } as const
const RETRIES = 2
const LONGEST_CONNECT_MS = 10_000

export interface PlatformOptions {
  /** `{base_url}` of the interface; it may have a path. Operations without their base URL fail as `Unavailable`. */
  readonly baseUrl: string | undefined
  readonly alertsBaseUrl: string | undefined
  readonly alertsTokenFile: string
  readonly secrets: FreshSecrets
  readonly network: NetworkSettings
  /** Per credential. */
  readonly budget: { readonly requests: number; readonly windowMs: number }
  /** For one attempt of a reading or an upsert. */
  readonly requestTimeoutMs: number
  /** For a create as a whole; shorter than the shutdown grace. */
  readonly createDeadlineMs: number
  /** 4 MiB unless set. */
  readonly maxReplyBytes?: number
  readonly clock: Clock
  readonly emit: Emit
  /** From 0 to below 1, for jitter. */
  readonly random: () => number
  readonly userAgent: string
  /** Attempts after the first, for readings and upserts; 2 unless set. */
  readonly idempotentRetries?: number
  /** As `Term.confirm`: called right before each request that changes something. Absent: nobody else can act. */
  readonly confirm?: (() => Promise<number>) | undefined
  /**
   * Called before a create is prepared: what is known not to be confirmed later is not begun. Absent: nothing is known before.
   * @throws {NotLeading}
   */
  readonly assertMayAct?: (() => void) | undefined
  /** For tests: fails at the failpoints of a create. */
  readonly fail?: Fail | undefined
}

/** The budget of one credential, named by its mounted secret. */
export interface CredentialBudget extends BudgetSnapshot {
  readonly credential: string
}

/** The platform over HTTP; disposing it waits for the requests that run. */
export interface PlatformClient extends Platform, AsyncDisposable {
  budgets(): readonly CredentialBudget[]
  /** Services whose credentials were refused. */
  pauses(): readonly Pause[]
  /** Of these, the services, and `alerts`, whose credentials are others by now. Sends nothing. */
  renewed(): Promise<readonly string[]>
  /** A person asks about this service, or `alerts`: refused credentials are tried now. */
  probeNow(service: string): void
  /**
   * The same within the same request budget, for who tries out what others ask for: credentials that are refused there pause
   * nobody here.
   */
  beside(): Platform
}

/** The HTTP client of the interface (`spec/api.md` 4 and 5). */
export function createPlatform(options: PlatformOptions): PlatformClient {
  const { secrets, alertsTokenFile, clock, requestTimeoutMs, userAgent } = options
  const emit = quietly(options.emit)
  const wire = DEFAULT_WIRE
  const bases = {
    services: options.baseUrl === undefined ? undefined : baseOf(options.baseUrl),
    alerts: options.alertsBaseUrl === undefined ? undefined : baseOf(options.alertsBaseUrl),
  }
  const network = openNetwork(options.network, Math.min(requestTimeoutMs, LONGEST_CONNECT_MS))
  const credentials = createCredentials({ secrets, alertsTokenFile, wire })
  const accounts = createAccounts({ ...options.budget, clock, emit })
  const maxReplyBytes = options.maxReplyBytes ?? MAX_REPLY_BYTES
  const breaker = createCredentialBreaker({ clock, emit })
  const fence = createFence(options.confirm)
  const earlyFence = createEarlyFence(options.assertMayAct)

  /** How each of those that asked signs in. */
  const logins = new Map<string, () => Login | Promise<Login>>()

  /** @param service undefined for the interface of alerts, which has one credential for all */
  function callerOf(operation: Operation, service: ServiceAccess | undefined): Caller {
    const { name, secretName } = service ?? { name: ALERTS, secretName: ALERTS_CREDENTIAL }
    const login = service === undefined ? credentials.bearer : () => credentials.basic(secretName)
    logins.set(`${operation.api} ${name}`, login)
    return { operation, service: name, account: accounts.of(secretName), login }
  }

  function needed({ api }: Operation): { readonly base: Base; readonly way: Way } {
    const base = bases[api]
    if (base !== undefined) return { base, way: network.wayTo(base.origin) }
    throw notSent('Unavailable', `${BASE_URL_FLAG[api]} is not set. Set it to the base URL of the platform`)
  }

  function readOf({ kind, service, id }: ReadTarget): Read<RemoteResource> {
    const operation = readingOf(kind, service)
    return {
      caller: callerOf(operation, service),
      ...needed(operation),
      path: pathOf(operation.path, { ...idsOf(service), id }),
      body: undefined,
      readValue: resourceWithId(kind, operation, id),
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

  function listOf(kind: CreateOnceKind, service: ServiceAccess): Read<readonly RemoteResource[]> {
    const operation = kind.operations.list
    if (operation === undefined) throw new Error(`there is no request for all ${kind.noun}s`)
    return {
      caller: callerOf(operation, service),
      ...needed(operation),
      path: pathOf(operation.path, idsOf(service)),
      body: undefined,
      readValue: listedResources(kind),
      maxReplyBytes: MAX_LIST_BYTES,
    }
  }

  function operationsWith(ownBreaker: CredentialBreaker): Platform {
    const common = { wire, clock, emit, breaker: ownBreaker, secrets, userAgent, maxReplyBytes }
    const reading = {
      ...common,
      timeoutMs: requestTimeoutMs,
      retries: options.idempotentRetries ?? RETRIES,
      random: options.random,
      fence,
    }
    const creating = { ...common, fence, deadlineMs: options.createDeadlineMs, fail: options.fail }
    return {
      read: (target, readOptions) => send(() => readOf(target), reading, readOptions),
      list: (kind, service, readOptions) => send(() => listOf(kind, service), reading, readOptions),
      async admitCreate(kind, service, { looks, ...readOptions }) {
        earlyFence()
        const operation = kind.operations.create
        const where = needed(operation)
        const caller = callerOf(operation, service)
        const path = pathOf(operation.path, idsOf(service))
        const admission = await admit(caller, ownBreaker, { ...readOptions, places: PLACES[looks] })
        const readValue = createdResource(kind)
        return createPermit(
          {
            service,
            caller,
            admission,
            ...where,
            path,
            readOf,
            listOf: (listed) => listOf(listed, service),
            readValue,
          },
          { creating, reading },
        )
      },
      upsert(kind, service, body, readOptions) {
        const operation = kind.operations.upsert
        const upsert = () =>
          ({
            caller: callerOf(operation, service),
            ...needed(operation),
            path: pathOf(operation.path, idsOf(service)),
            body: (places: TakenPlaces) => body(looksIn(places, service)),
            places: isReadable(kind) ? 2 : 1,
            readValue: upsertedResource(kind),
          }) as const
        return send(upsert, reading, readOptions)
      },
      remove({ kind, service, id }, check, readOptions) {
        const operation = kind.operations.delete
        if (operation === undefined) throw new Error(`there is no request to delete a ${kind.noun}`)
        const remove = () =>
          ({
            caller: callerOf(operation, service),
            ...needed(operation),
            path: pathOf(operation.path, { ...idsOf(service), id }),
            body: async (places: TakenPlaces) => {
              await check(looksIn(places, service))
              return undefined
            },
            places: 2,
            readValue: anything,
          }) as const
        return send(remove, reading, readOptions)
      },
      change({ kind, way, service, id, isRepeatable, looksFirst }, body, readOptions) {
        const change = () => {
          const operation = kind.operations[way]
          if (operation === undefined) throw new Error(`there is no request to ${way} a ${kind.noun}`)
          return {
            caller: callerOf(operation, service),
            ...needed(operation),
            path: pathOf(operation.path, { ...idsOf(service), id }),
            body: (places: TakenPlaces) => body(looksIn(places, service)),
            places: looksFirst ? 2 : 1,
            readValue: anything,
            ...(!isRepeatable && { retries: 0 }),
          } as const
        }
        return send(change, reading, readOptions)
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
      for (const { service, api, digest } of breaker.refused()) {
        const now = await digestNow(logins.get(`${api} ${service}`))
        if (now !== undefined && now !== digest) services.add(service)
      }
      return [...services]
    },
    async [Symbol.asyncDispose]() {
      await network[Symbol.asyncDispose]()
    },
  }
}

/** Undefined: it cannot be read. */
async function digestNow(login: (() => Login | Promise<Login>) | undefined): Promise<string | undefined> {
  try {
    return (await login?.())?.digest
  } catch {
    return undefined
  }
}

/**
 * A listener that throws must not cost us the id of a pipe that was created (design §2, law 2): what it throws is
 * dropped, because to throw it anywhere could end the process before the id is on disk.
 */
function quietly(emit: Emit): Emit {
  return (event) => {
    try {
      emit(event)
    } catch {
      // Nobody would hear of it: the listener is what failed.
    }
  }
}

function idsOf(service: ServiceAccess | undefined): Readonly<Record<string, string>> {
  if (service === undefined) return {}
  const { organizationId, serviceId } = service
  return { organizationId, serviceId }
}
