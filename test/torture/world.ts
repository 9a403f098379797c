import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FixtureInput } from '../../src/sandbox/fixture.ts'
import { ALERT, head, ORGANIZATION, serviceManifest } from '../support/manifests.ts'
import { type Leaks, PLANTED } from './leaks.ts'
import type { Scene } from './scene.ts'

/*
 * What there is besides pipes: services with their keys, query endpoints, alerts, mounted secrets.
 */

const LARGE = ['alpha', 'beta', 'gamma', 'delta'] as const
const SMALL = ['eta-0', 'eta-1', 'eta-2', 'eta-3', 'eta-4', 'eta-5'] as const

export const SERVICES = [...LARGE, ...SMALL] as const
export type Service = (typeof SERVICES)[number]

/** By how many pipes they have: the small ones have two or three each, of eighty. */
export const SERVICES_BY_SIZE = SERVICES.map((name) => [keyOf(name) === 'etas' ? 1 : 5, name] as const)

/** Each large service has a key of its own; the small ones share one. */
export const KEYS = [...LARGE, 'etas'] as const
export type ApiKey = (typeof KEYS)[number]

export function servicesOf(key: ApiKey): readonly Service[] {
  return SERVICES.filter((name) => keyOf(name) === key)
}

function keyOf(service: Service): ApiKey {
  return LARGE.find((name) => name === service) ?? 'etas'
}

const ALERTS = 6
export const ALERTS_TOKEN = `${PLANTED}-alerts-token`

/** Mounted secrets with passwords; only the first ones are ever rotated. */
export const PASSWORD_SECRETS = [
  'source-0',
  'source-1',
  'source-2',
  'source-3',
  'source-4',
  'source-5',
] as const
export const ROTATED_SECRETS: readonly string[] = PASSWORD_SECRETS.slice(0, 2)

export function serviceIdOf(service: Service): string {
  return `7f0d2c9a-1d8e-4f57-8a0b-${String(SERVICES.indexOf(service)).padStart(12, '0')}`
}

export const CREDENTIALS = KEYS.map((name) => ({
  keyId: `key-id-of-${name}`,
  keySecret: `${PLANTED}-key-secret-of-${name}`,
}))

/** What the platform has before anybody asks. */
export function worldOfPlatform({ alertId }: Scene): FixtureInput {
  return {
    services: SERVICES.map((name) => ({ organizationId: ORGANIZATION, serviceId: serviceIdOf(name) })),
    alerts: Array.from({ length: ALERTS }, (_, index) => ({
      ...ALERT,
      id: alertId(index),
      name: `Alert ${index}`,
    })),
  }
}

export const ALERT_KEYS: readonly string[] = Array.from({ length: ALERTS }, (_, index) => `Alert/a-${index}`)

/** Services and alerts as a file that nobody edits. */
export function renderGround({ alertId }: Scene): string {
  const services = SERVICES.map((name) =>
    serviceManifest({ name, serviceId: serviceIdOf(name), secret: `api-${keyOf(name)}` }),
  )
  const alerts = Array.from(
    { length: ALERTS },
    (_, index) =>
      `${head('Alert', `a-${index}`)}spec: {id: ${alertId(index)}, expect: {name: Alert ${index}}}\n`,
  )
  return [...services, ...alerts].join('---\n')
}

/** The query endpoint of a service; `origins` is what gets edited. */
export function renderEndpoint(service: string, origins: string, { endpointKeys }: Scene): string {
  return `${head('QueryEndpoint', service)}spec:
  service: ${service}
  roles: [sql_console_read_only]
  openApiKeys: [${endpointKeys}]
  allowedOrigins: ${origins}
`
}

/** The folders of mounted secrets: `credentials` and `secrets`. */
export type Mounts = Awaited<ReturnType<typeof createMounts>>

export async function createMounts(dir: string, leaks: Leaks) {
  const path = join(dir, 'mounted')
  const away = new Set<string>()
  const generation = new Map<string, number>()

  async function write(name: string, key: string, value: string): Promise<void> {
    await mkdir(join(path, name), { recursive: true })
    await writeFile(join(path, name, `${key}.new`), value)
    await rename(join(path, name, `${key}.new`), join(path, name, key))
  }

  for (const [index, name] of KEYS.entries()) {
    const { keyId, keySecret } = CREDENTIALS[index] ?? { keyId: '', keySecret: '' }
    await write(`credentials/api-${name}`, 'keyId', keyId)
    await write(`credentials/api-${name}`, 'keySecret', keySecret)
    leaks.plant(Buffer.from(`${keyId}:${keySecret}`).toString('base64'))
  }
  await write('credentials/alerts', 'token', ALERTS_TOKEN)
  const password = (name: string) => `${PLANTED}-password-of-${name}-${generation.get(name) ?? 0}`
  for (const name of PASSWORD_SECRETS) await write(`secrets/${name}`, 'password', password(name))

  return {
    path,
    /** What a mounted secret holds now. */
    password,
    async rotate(name: string) {
      generation.set(name, (generation.get(name) ?? 0) + 1)
      if (!away.has(name)) await write(`secrets/${name}`, 'password', password(name))
    },
    async unmount(name: string) {
      away.add(name)
      await rm(join(path, 'secrets', name), { recursive: true, force: true })
    },
    async mountAll() {
      for (const name of away) await write(`secrets/${name}`, 'password', password(name))
      away.clear()
    },
  }
}
