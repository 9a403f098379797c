import type { Json, JsonObject } from '../../src/lib/json.ts'
import { answer, parsed } from './routes.ts'
import type { PipeState } from './states.ts'
import { stateNow, type Answer, type Asked, type Pipe, type World } from './world.ts'

/*
 * A service that knows the facts and nothing of the client: whatever the facts call wrong in a request it refuses, and it says why. What
 * it answers is as varied as the facts allow, by a seed. `strict-wire.ts` and `strict-http.ts` serve it to a client.
 */

export interface StrictOptions {
  readonly seed: string
  readonly key: { readonly keyId: string; readonly keySecret: string }
  readonly service: { readonly organizationId: string; readonly serviceId: string }
  /** Alerts that the service has, as it keeps them. */
  readonly alerts: readonly JsonObject[]
  /** Those of HyperDX, which has a login of its own. */
  readonly hyperdx: { readonly token: string; readonly alerts: readonly JsonObject[] }
  /**
   * Which edits of a database pipe are refused unless it is paused. That its tables are is known; whether the rest of its source is, the
   * facts can be read both ways. Its tables, unless this says otherwise.
   */
  readonly mustPause?: 'mappings' | 'source'
  /** Fields of an alert that a PUT keeps although it leaves them out, beside those that every revision is known to keep. */
  readonly keptByPut?: readonly string[]
}

/** One request, and what came of it. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly status: number
  /** Why it was refused; nothing when it was taken. */
  readonly refused: readonly string[]
  /** Fields that were taken, and silently not applied. */
  readonly dropped: readonly string[]
  /** What was sent; nothing where there was none, or no JSON. */
  readonly body: Json | undefined
}

export interface StrictReply {
  readonly status: number
  readonly type: string
  readonly text: string
}

export type StrictServer = ReturnType<typeof createStrictServer>

export function createStrictServer(options: StrictOptions) {
  const seen: Seen[] = []
  const world: World = {
    ...options,
    pipes: new Map(),
    reads: new Map(),
    endpoint: { body: undefined },
    alerts: [...options.alerts],
    hyperdx: { ...options.hyperdx, alerts: [...options.hyperdx.alerts] },
  }
  return {
    /** Answers one request, which arrived. */
    answer(asked: Asked): StrictReply {
      const { method, path, content } = asked
      const given = answer(world, asked)
      const { status, refused, dropped } = given
      seen.push({ method, path, status, refused, dropped, body: parsed(content) })
      return replyOf(given, seen.length)
    },
    seen: () => [...seen],
    /** The whole body of each pipe as it now is, secrets included, by its id; without those that are gone. */
    pipes: () => new Map([...world.pipes].map(([id, { body }]) => [id, body])),
    /** The state that each pipe was told to be in last. No reading. */
    states: () => new Map([...world.pipes].map(([id, pipe]) => [id, stateNow(pipe)])),
    /** Puts a pipe into the first of some states; each reading goes one on, and the last stays. */
    setStates(id: string, ...states: readonly PipeState[]) {
      pipeNamed(world, id).states = states
    },
    /** Somebody else edits a pipe: it has this body from now on. */
    setBody(id: string, body: JsonObject) {
      pipeNamed(world, id).body = body
    },
    /** The query endpoint that was taken last. */
    endpoint: () => world.endpoint.body,
    /** The alerts of the service, and those of HyperDX. */
    alerts: () => [...world.alerts],
    hyperdxAlerts: () => [...world.hyperdx.alerts],
  }
}

/** @throws when there is none */
function pipeNamed({ pipes }: World, id: string): Pipe {
  const found = pipes.get(id)
  if (found === undefined) throw new Error(`there is no pipe ${id}`)
  return found
}

function replyOf({ status, result, refused, form }: Answer, count: number): StrictReply {
  // a route that is not served is answered by the web server, not by the service
  if (form === 'page') return { status, type: 'text/html', text: '<html><body>Not Found</body></html>' }
  // said by whoever stands before it
  if (form === 'hyperdx' && status === 401) return { status, type: 'text/plain', text: 'Unauthorized' }
  const requestId = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`
  const error = refused.join('; ')
  const body = {
    cloud: status === 200 ? { status, requestId, result } : { status, error, requestId },
    hyperdx: status === 200 ? (result === undefined ? {} : { data: result }) : { message: error },
  }[form]
  return { status, type: 'application/json; charset=utf-8', text: JSON.stringify(body) }
}
