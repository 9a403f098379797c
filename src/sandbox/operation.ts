/** The four operations of the interface (`spec/api.md` 4). */
export const OPERATIONS = ['createPipe', 'getPipe', 'upsertQueryEndpoint', 'getAlert'] as const

export type Operation = (typeof OPERATIONS)[number]

const SERVICE = '/v1/organizations/:organizationId/services/:serviceId'

/** Method and path of each, as fastify writes them. */
export const ROUTES: Readonly<Record<Operation, { readonly method: 'GET' | 'POST'; readonly url: string }>> =
  {
    createPipe: { method: 'POST', url: `${SERVICE}/pipes` },
    getPipe: { method: 'GET', url: `${SERVICE}/pipes/:pipeId` },
    upsertQueryEndpoint: { method: 'POST', url: `${SERVICE}/serviceQueryEndpoint` },
    getAlert: { method: 'GET', url: '/api/v2/alerts/:id' },
  }
