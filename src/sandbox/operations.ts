import type { Method } from '../kinds/definition.ts'
import { operationsOf, type Profile } from '../kinds/profile.ts'

/** `spec/api.md` 4, and single profiles. */
export const OPERATIONS = [
  'createPipe',
  'getPipe',
  'upsertQueryEndpoint',
  'getAlert',
  'getServiceAlert',
  'listPipes',
  'updatePipe',
  'scalePipe',
  'putPipeSettings',
  'setPipeState',
  'deletePipe',
  'getQueryEndpoint',
  'deleteQueryEndpoint',
  'listServiceAlerts',
  'createAlert',
  'updateAlert',
  'deleteAlert',
] as const

export type Operation = (typeof OPERATIONS)[number]

/** In fastify's notation. */
export interface Route {
  readonly operation: Operation
  readonly method: Method
  readonly url: string
}

export function routesOf(profile: Profile): readonly Route[] {
  const routes = operationsOf(profile).map(({ api, name, method, path }): Route => {
    const known = (api === 'services' ? IN_SERVICE[name] : undefined) ?? name
    const operation = OPERATIONS.find((one) => one === known)
    if (operation === undefined) throw new Error(`the sandbox has no operation ${known}`)
    return { operation, method, url: path.replaceAll(/\{(\w+)\}/g, ':$1') }
  })
  return [...new Map(routes.map((route) => [route.operation, route])).values()]
}

/** The other interface for alerts has an operation of the same name. */
const IN_SERVICE: Readonly<Record<string, Operation>> = {
  getAlert: 'getServiceAlert',
  listAlerts: 'listServiceAlerts',
}
