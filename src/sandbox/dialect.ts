import type { JsonObject } from '../lib/json.ts'
import type { Method, Operation as Request } from '../kinds/definition.ts'
import { formsOf, type Profile } from '../kinds/profile.ts'
import type { z } from '../kinds/zod.ts'
import type { PipeChanges } from './changes/change.ts'
import type { Operation } from './request-schema.ts'

export interface Dialect {
  /** Of a create's body. */
  readonly pipeShape: Readonly<Record<string, z.core.$ZodType>>
  readonly endpointRequest: z.ZodType<EndpointRequest>
  readonly alert: z.ZodType<{ readonly id: string } & Readonly<Record<string, unknown>>>
  /** If the profile can write alerts. */
  readonly alerts?: {
    readonly request: z.ZodType
    /** For a body of the right shape. */
    objectionTo(alert: JsonObject): string | undefined
  }
  /** For a body with valid fields. */
  objectionTo(pipe: JsonObject): string | undefined
  refusal(status: number, error: string): string
  /** If the profile can change pipes. */
  readonly changes?: PipeChanges
  /** Empty if the profile ignores the service's state. */
  readonly serviceStates: readonly string[]
  /** Running or completed. */
  settledState(pipe: JsonObject): string
  /** As in replies. */
  spelled(pipe: JsonObject): JsonObject
  timestamp(ms: number): string
}

interface EndpointRequest {
  readonly roles?: readonly string[] | undefined
  readonly openApiKeys?: readonly string[] | undefined
  readonly allowedOrigins?: string | undefined
}

/** In fastify's notation. */
export interface Route {
  readonly operation: Operation
  readonly method: Method
  readonly url: string
}

export function routesOf(profile: Profile): readonly Route[] {
  return formsOf(profile).flatMap((kind): readonly Route[] => {
    switch (kind.lifecycle) {
      case 'create-once':
        // A kind outside of `profile.kinds` is the writable alert. Its reads are in the other form.
        if (profile.kinds.every((one) => one !== kind))
          return [
            routeOf('createAlert', kind.operations.create),
            ...routeIf('listServiceAlerts', kind.operations.list),
            ...routeIf('updateAlert', kind.operations.update),
            ...routeIf('deleteAlert', kind.operations.delete),
          ]
        return [
          routeOf('createPipe', kind.operations.create),
          routeOf('getPipe', kind.operations.read, 'pipeId'),
          ...routeIf('listPipes', kind.operations.list),
          ...routeIf('updatePipe', kind.operations.update, 'pipeId'),
          ...routeIf('scalePipe', kind.operations.scale, 'pipeId'),
          ...routeIf('putPipeSettings', kind.operations.configure, 'pipeId'),
          ...routeIf('setPipeState', kind.operations.state, 'pipeId'),
          ...routeIf('deletePipe', kind.operations.delete, 'pipeId'),
        ]
      case 'upsert':
        return [
          routeOf('upsertQueryEndpoint', kind.operations.upsert),
          ...routeIf('getQueryEndpoint', kind.operations.read),
          ...routeIf('deleteQueryEndpoint', kind.operations.delete),
        ]
      case 'read-only': {
        const { read, readInService } = kind.operations
        return [routeOf('getAlert', read), ...routeIf('getServiceAlert', readInService)]
      }
      case 'reference':
        return []
    }
  })
}

function routeIf(operation: Operation, request: Request | undefined, id = 'id'): readonly Route[] {
  return request === undefined ? [] : [routeOf(operation, request, id)]
}

function routeOf(operation: Operation, { method, path }: Request, id = 'id'): Route {
  return {
    operation,
    method,
    url: path.replace('{id}', `:${id}`).replaceAll(/\{(\w+)\}/g, ':$1'),
  }
}
