import { createControl, type SandboxControl } from './control.ts'
import type { Access, Credential } from './credential.ts'
import type { FaultMixInput, FaultRuleInput } from './fault.ts'
import { createFaults } from './faults.ts'
import { openHome } from './home.ts'
import { createIncidents } from './incidents.ts'
import { createPlatform } from './platform.ts'
import { createRateLimit, type Limit } from './rate-limit.ts'
import { seed } from './seed.ts'
import { serve } from './serve.ts'
import { World, type WorldInput } from './world.ts'

export interface SandboxOptions {
  /** Where to listen; `127.0.0.1` unless given. */
  readonly host?: string | undefined
  /** 0, or nothing: one that is free. */
  readonly port?: number | undefined
  /** A SQLite file, made when absent, that several processes may open; in memory when not given. */
  readonly file?: string | undefined
  /** What is there before anybody asks. */
  readonly world?: WorldInput | undefined
  /** API keys that are right, besides those of the world. */
  readonly credentials: readonly Credential[]
  /** Tokens for alerts that are right, besides those of the world. */
  readonly alertTokens: readonly string[]
  /** How long a new pipe is `Provisioning`; 1500 ms unless given. */
  readonly provisioningMs?: number | undefined
  /** Answers 429 beyond it; no limit unless given. */
  readonly limit?: Limit | undefined
  /** How to misbehave from the start. */
  readonly faults?:
    { readonly rules?: readonly FaultRuleInput[]; readonly mix?: FaultMixInput | undefined } | undefined
  /** The time, in ms since the epoch; the machine's unless given. */
  readonly now?: (() => number) | undefined
}

/** The platform of `spec/api.md`, embedded. */
export interface Sandbox extends SandboxControl, AsyncDisposable {
  /** `http://HOST:PORT`: both `{base_url}` and `{alerts_base_url}`. */
  readonly url: string
  /** Replaces the API keys and tokens that are right, those of the world too. */
  setAccess(access: Access): void
  /** Ends every connection at once, hanging ones too, and closes the file. May be called twice. */
  close(): Promise<void>
}

/**
 * Starts a platform that behaves as `spec/api.md` says, and misbehaves as it is told.
 * @throws Error when it cannot listen or cannot use the file
 */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const now = options.now ?? Date.now
  const provisioningMs = options.provisioningMs ?? 1_500
  const world = World.parse(options.world ?? {})
  let access: Access = {
    credentials: [...world.credentials, ...options.credentials],
    alertTokens: [...world.alertTokens, ...options.alertTokens],
  }
  const faults = createFaults()
  faults.add(...(options.faults?.rules ?? []))
  faults.mix(options.faults?.mix)

  await using stack = new AsyncDisposableStack()
  const home = stack.use(openHome(options.file))
  seed(home, world, now())
  const incidents = createIncidents(home, world.incidents)
  const platform = createPlatform({ home, incidents, services: world.services, provisioningMs })

  const control = createControl({ home, incidents, faults, provisioningMs, now })
  const server = stack.use(
    await serve({
      host: options.host ?? '127.0.0.1',
      port: options.port ?? 0,
      control,
      parts: { home, platform, faults, limit: createRateLimit(options.limit), access: () => access, now },
    }),
  )

  const open = stack.move()
  return {
    ...control,
    url: server.url,
    setAccess(next) {
      access = next
    },
    close: () => open.disposeAsync(),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}
