import type { CreateOnceKind } from '../../src/kinds/definition.ts'
import { type RemoteResource, returnedBody } from '../../src/kinds/remote-resource.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type {
  CreatePermit,
  Looks,
  Platform,
  ReadOptions,
  ReadTarget,
  Reply,
  ServiceAccess,
} from '../../src/contract/platform.ts'
import type { Ledger } from '../../src/contract/ledger.ts'
import { sameId } from '../../src/lib/same-id.ts'
import { SecretUnavailableError } from '../../src/contract/secrets.ts'
import { type Effect, type ErrorClass, RemoteError } from '../../src/contract/remote-error.ts'
import { judgeSend, type Sent } from '../support/oracle.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { type Script, isDoubtful } from './model-script.ts'

/** The permit of a create is scripted on its own: it fails or waits before anything is sent. */
export type ModelOperation = (typeof OPERATIONS)[number]
const OPERATIONS = ['admit', 'create', 'get', 'list', 'upsert', 'alert'] as const

export interface ModelPipe {
  readonly id: string
  /** Where it is found: under the path of its kind. */
  readonly kind: CreateOnceKind
  readonly serviceId: string
  /** As replies show it. */
  body: JsonObject
  /** The intent that made it; `undefined`: somebody in the console. */
  readonly intentId: string | undefined
  readonly createdAt: string
}

export interface Post extends Sent {
  readonly key: Key | undefined
  readonly intentId: string
  readonly serviceId: string
  readonly body: JsonObject
  /** On the monotonic clock, ms. */
  readonly at: number
  effect: Sent['effect']
  pipeId: string | undefined
}

/** Whose digest every reply says it was asked with. */
const CREDENTIAL = 'api'

/** `spec/api.md` in memory, behind the port of a reconcile. It can be told how to treat the next requests. */
export interface ModelPlatform extends Platform {
  readonly pipes: Map<string, ModelPipe>
  readonly alerts: Map<string, JsonObject>
  /** Ids of pipes whose reading fails as unavailable. */
  readonly unreadable: Set<string>
  /** Ids of pipes that are there, and are not found. */
  readonly hidden: Set<string>
  readonly posts: readonly Post[]
  readonly upserts: readonly JsonObject[]
  readonly requests: Readonly<Record<ModelOperation, number>>
  script(operation: ModelOperation, ...replies: readonly (Script | 'ok')[]): void
  /** The same for every request that nothing else is scripted for. */
  always(operation: ModelOperation, reply: Script | 'ok'): void
  /** What a list shows of what is there: all of it, unless a test says otherwise. */
  listed: (there: readonly RemoteResource[]) => readonly RemoteResource[]
  /** Somebody makes a pipe in the console, or what else is created once. @returns its id */
  make(serviceId: string, body: JsonObject, kind?: CreateOnceKind): string
}

export function createModelPlatform(parts: {
  readonly clock: Clock
  /** Read at each create: its intent has to be there. */
  readonly ledger: Pick<Ledger, 'withIntent'>
}): ModelPlatform {
  const { clock, ledger } = parts
  const scripts = forEach((): (Script | 'ok')[] => [])
  const requests = forEach(() => 0)
  const others: Partial<Record<ModelOperation, Script | 'ok'>> = {}
  const pipes = new Map<string, ModelPipe>()
  const alerts = new Map<string, JsonObject>()
  const unreadable = new Set<string>()
  const hidden = new Set<string>()
  const posts: Post[] = []
  const upserts: JsonObject[] = []
  let made = 0

  function next(operation: ModelOperation): Script | 'ok' {
    requests[operation] += 1
    return scripts[operation].shift() ?? others[operation] ?? 'ok'
  }

  function add(
    kind: CreateOnceKind,
    serviceId: string,
    body: JsonObject,
    intentId: string | undefined,
  ): ModelPipe {
    made += 1
    const id = `00000000-0000-4000-8000-${String(made).padStart(12, '0')}`
    const createdAt = new Date(clock.now()).toISOString()
    const pipe = { id, kind, serviceId, body: returnedBody(kind.fields, body), intentId, createdAt }
    pipes.set(id, pipe)
    return pipe
  }

  async function admitCreate(
    kind: CreateOnceKind,
    service: ServiceAccess,
    { signal }: ReadOptions,
  ): Promise<CreatePermit> {
    signal.throwIfAborted()
    await obey(next('admit'), signal)
    return permitOf(service, looksOf(model, service), ({ body, intentId }) =>
      send(kind, service, body, intentId),
    )
  }

  async function send(
    kind: CreateOnceKind,
    service: ServiceAccess,
    text: string,
    intentId: string,
  ): Promise<Reply<RemoteResource>> {
    const body = JSON.parse(text) as JsonObject // the body of a create is an object
    const script = next('create')
    const owner = await ledger.withIntent(intentId)
    const isOpen = owner?.intent?.id === intentId && owner.intent.state === 'open'
    const isRepeated = posts.some((post) => post.intentId === intentId)
    const broken = judgeSend(intentId, { isOpen, isRepeated })
    if (broken.length > 0) throw new Error(broken.join('\n'))
    const works =
      script === 'ok' || (script.type !== 'no-credentials' && !('worked' in script && !script.worked))
    const pipe = works ? add(kind, service.serviceId, body, intentId) : undefined
    const effect = script === 'ok' ? 'done' : 'effect' in script ? script.effect : 'unknown'
    const { serviceId } = service
    const at = clock.monotonic()
    const post: Post = { key: owner?.key, intentId, serviceId, body, at, effect, pipeId: pipe?.id }
    posts.push(post)
    const showsId = script !== 'ok' && script.type === 'fail' && script.showsId === true
    await obey(script, undefined, showsId ? pipe?.id : undefined)
    if (pipe === undefined) throw new Error('what did not work is not answered in full')
    if (!isDoubtful(script)) post.effect = 'done'
    return replyOf(shown(pipe, script), `request-${posts.length}`)
  }

  function read(target: ReadTarget, options: ReadOptions): Promise<Reply<RemoteResource>> {
    return target.service === undefined ? readAlert(target.id, options) : readPipe(target, options)
  }

  async function readPipe(
    { kind, service, id }: ReadTarget,
    { signal }: ReadOptions,
  ): Promise<Reply<RemoteResource>> {
    signal.throwIfAborted()
    const script = next('get')
    if (unreadable.has(id)) throw remoteError('Unavailable', 'none')
    const pipe = hidden.has(id) ? undefined : pipes.get(id.toLowerCase())
    await obey(script, signal)
    if (pipe?.kind.name !== kind.name || !sameId(pipe.serviceId, service?.serviceId))
      throw remoteError('Missing', 'none')
    return { value: shown(pipe, script), requestId: undefined, credential: CREDENTIAL } // an id is optional
  }

  async function list(
    kind: CreateOnceKind,
    { serviceId }: ServiceAccess,
    { signal }: ReadOptions,
  ): Promise<Reply<readonly RemoteResource[]>> {
    signal.throwIfAborted()
    const script = next('list')
    await obey(script, signal)
    const there = [...pipes.values()].filter(
      (pipe) => pipe.kind.name === kind.name && sameId(pipe.serviceId, serviceId) && !hidden.has(pipe.id),
    )
    const listed = model.listed(there.map((pipe) => shown(pipe, script)))
    return replyOf(listed, `request-list-${requests.list}`)
  }

  async function readAlert(id: string, { signal }: ReadOptions): Promise<Reply<RemoteResource>> {
    signal.throwIfAborted()
    const script = next('alert')
    await obey(script, signal)
    const alert = alerts.get(id)
    if (alert === undefined) throw remoteError('Rejected', 'none')
    return { value: { id, ...alert }, requestId: undefined, credential: 'alerts token' }
  }

  const model: ModelPlatform = {
    pipes,
    alerts,
    unreadable,
    hidden,
    posts,
    upserts,
    requests,
    script(operation, ...replies) {
      scripts[operation].push(...replies)
    },
    always(operation, reply) {
      others[operation] = reply
    },
    listed: (there) => there,
    make: (serviceId, body, kind = PIPE) => add(kind, serviceId, body, undefined).id,
    admitCreate,
    read,
    list,
    async upsert(_kind, service, makeBody, { signal }) {
      signal.throwIfAborted()
      const text = await makeBody(looksOf(model, service))
      const script = next('upsert')
      await obey(script, signal)
      const body = JSON.parse(text) as JsonObject // as above
      upserts.push(body)
      const change = script !== 'ok' && script.type === 'other' ? script.change : {}
      const value = { id: 'endpoint-1', ...body, ...change } as RemoteResource // our own body, as 2.7 has it
      return replyOf(value, `request-upsert-${upserts.length}`)
    },
    ...CHANGES_NOTHING,
  }
  return model
}

function forEach<T>(make: () => T): Record<ModelOperation, T> {
  return Object.fromEntries(OPERATIONS.map((each) => [each, make()])) as Record<ModelOperation, T> // one for each
}

export function replyOf<T>(value: T, requestId = 'request'): Reply<T> {
  return { value, requestId, credential: CREDENTIAL }
}

export function looksOf({ read, list }: Pick<Platform, 'read' | 'list'>, service: ServiceAccess): Looks {
  return { read, list: (kind, options) => list(kind, service, options), lookCostsMs: 0 }
}

export function permitOf(service: ServiceAccess, looks: Looks, send: CreatePermit['send']): CreatePermit {
  return { ...looks, service, deadlineMs: 20_000, waitedMs: 0, send, release: () => undefined }
}

/** As a service of the default profile. */
export const CHANGES_NOTHING: Pick<Platform, 'change' | 'remove'> = {
  change: () => Promise.reject(new Error('this platform changes nothing')),
  remove: () => Promise.reject(new Error('this platform deletes nothing')),
}

function shown({ id, serviceId, body, createdAt }: ModelPipe, script: Script | 'ok'): RemoteResource {
  const change = script !== 'ok' && script.type === 'other' ? script.change : {}
  return { state: 'Running', ...structuredClone(body), id, serviceId, createdAt, ...change }
}

export function remoteError(errorClass: ErrorClass, effect: Effect, repliedId?: string): RemoteError {
  const what = `the platform said ${errorClass}`
  return new RemoteError(what, {
    what,
    class: errorClass,
    effect,
    httpStatus: STATUS[errorClass],
    requestId: errorClass === 'Unavailable' ? undefined : `request-${errorClass}`,
    retryAfterMs: errorClass === 'Throttled' ? 7_000 : undefined,
    transient: errorClass === 'Unavailable',
    repliedId,
    proxy: undefined,
    credential: CREDENTIAL,
    refused: errorClass === 'AuthFailed' ? { source: 'secret api', what: 'the credentials' } : undefined,
  })
}

const STATUS: Readonly<Record<ErrorClass, number | undefined>> = {
  Rejected: 400,
  AuthFailed: 401,
  Missing: 404,
  Throttled: 429,
  ServiceIdle: 424,
  Unavailable: undefined,
  BadReply: 200,
  Redirected: 302,
  NotLeading: undefined,
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }) // we abort with errors
  })
}

/** @throws what the script says; never ends when the reply is lost */
async function obey(
  script: Script | 'ok',
  signal: AbortSignal | undefined,
  repliedId?: string,
): Promise<void> {
  if (script === 'ok') return
  if (script.type === 'other') return script.until
  switch (script.type) {
    case 'fail':
      throw remoteError(script.class, script.effect, repliedId)
    case 'lost':
      return new Promise<never>(() => undefined)
    case 'slow':
      await (signal === undefined ? script.until : Promise.race([script.until, aborted(signal)]))
      return
    case 'no-credentials':
      throw new SecretUnavailableError({ file: '/secrets/api/keyId', why: 'absent', of: 'API key' })
  }
}
