import type { JsonObject } from '../lib/json.ts'
import type { Operation as Request } from '../kinds/definition.ts'
import type { Profile } from '../kinds/profile.ts'
import type { z } from '../kinds/zod.ts'
import type { Operation } from './request-schema.ts'

/** How the sandbox speaks with a profile: what it takes, and how it shows what it keeps. */
export interface Dialect {
  /** The parts of the body of a create, each with its schema. */
  readonly pipeShape: Readonly<Record<string, z.core.$ZodType>>
  /** The body of the upsert of a query endpoint. */
  readonly endpointRequest: z.ZodType<EndpointRequest>
  /** An alert, with every field that it has. */
  readonly alert: z.ZodType<{ readonly id: string } & Readonly<Record<string, unknown>>>
  /** What is wrong with the body of a create whose parts are right, or `undefined`. */
  objectionTo(pipe: JsonObject): string | undefined
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
  readonly method: 'GET' | 'POST'
  readonly url: string
}

/** The operations that a profile has, where its requests go. */
export function routesOf({ kinds }: Profile): readonly Route[] {
  return kinds.flatMap((kind): readonly Route[] => {
    switch (kind.lifecycle) {
      case 'create-once':
        return [
          routeOf('createPipe', kind.operations.create),
          routeOf('getPipe', kind.operations.read, 'pipeId'),
          ...(kind.operations.list ? [routeOf('listPipes', kind.operations.list)] : []),
        ]
      case 'upsert':
        return [routeOf('upsertQueryEndpoint', kind.operations.upsert)]
      case 'read-only': {
        const { read, readInService } = kind.operations
        return [
          routeOf('getAlert', read),
          ...(readInService ? [routeOf('getServiceAlert', readInService)] : []),
        ]
      }
      case 'reference':
        return []
    }
  })
}

/** @param id what the sandbox calls the id in the path */
function routeOf(operation: Operation, { does, path }: Request, id = 'id'): Route {
  return {
    operation,
    method: does === 'read' ? 'GET' : 'POST',
    url: path.replace('{id}', `:${id}`).replaceAll(/\{(\w+)\}/g, ':$1'),
  }
}
