import type { JsonObject } from '../lib/json.ts'
import type { Method, Operation as Request } from '../kinds/definition.ts'
import { formsOf, type Profile } from '../kinds/profile.ts'
import type { z } from '../kinds/zod.ts'
import type { PipeChanges } from './changes/change.ts'
import type { Operation } from './request-schema.ts'

/** How the sandbox speaks with a profile: what it takes, and how it shows what it keeps. */
export interface Dialect {
  /** The parts of the body of a create, each with its schema. */
  readonly pipeShape: Readonly<Record<string, z.core.$ZodType>>
  /** The body of the upsert of a query endpoint. */
  readonly endpointRequest: z.ZodType<EndpointRequest>
  /** An alert, with every field that it has. */
  readonly alert: z.ZodType<{ readonly id: string } & Readonly<Record<string, unknown>>>
  /** How alerts are written, where a profile can write them. */
  readonly alerts?: {
    readonly request: z.ZodType
    /** What is wrong with a body of the right shape, or `undefined`. */
    objectionTo(alert: JsonObject): string | undefined
  }
  /** What is wrong with the body of a create whose parts are right, or `undefined`. */
  objectionTo(pipe: JsonObject): string | undefined
  /** The text of a refusal that the platform itself words. */
  refusal(status: number, error: string): string
  /** How pipes change, where a profile can change them. */
  readonly changes?: PipeChanges
  /** The states that a service can have; none where nothing depends on them. */
  readonly serviceStates: readonly string[]
  /** The state of a pipe that goes on, or has come to its end. */
  settledState(pipe: JsonObject): string
  /** A pipe as it is kept, in the spellings of replies. */
  spelled(pipe: JsonObject): JsonObject
  /** A time of a pipe, as replies write it. @param ms since the epoch */
  timestamp(ms: number): string
}

interface EndpointRequest {
  readonly roles?: readonly string[] | undefined
  readonly openApiKeys?: readonly string[] | undefined
  readonly allowedOrigins?: string | undefined
}

/** Method and path of an operation, as fastify writes them. */
export interface Route {
  readonly operation: Operation
  readonly method: Method
  readonly url: string
}

/** The operations that a profile has, where its requests go. */
export function routesOf(profile: Profile): readonly Route[] {
  return formsOf(profile).flatMap((kind): readonly Route[] => {
    switch (kind.lifecycle) {
      case 'create-once':
        // What has another form is an alert. Its reading is that of the other form.
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

/** @param id what the sandbox calls the id in the path */
function routeOf(operation: Operation, { method, path }: Request, id = 'id'): Route {
  return {
    operation,
    method,
    url: path.replace('{id}', `:${id}`).replaceAll(/\{(\w+)\}/g, ':$1'),
  }
}
