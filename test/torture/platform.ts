import { DatabaseSync } from 'node:sqlite'
import type { PipeView } from '../../src/sandbox/world.ts'
import type { PipeInternals, RecordedRequest } from '../../src/sandbox/stored.ts'
import { createSandbox } from '../../src/sandbox/sandbox-server.ts'
import type { Scene } from './scene.ts'
import { ALERTS_TOKEN, CREDENTIALS, worldOfPlatform } from './world.ts'

/** A create as the platform saw it. */
export interface Post {
  readonly seq: number
  /** ms since the epoch. */
  readonly at: number
  readonly platformName: string
  readonly intentId: string
  readonly requestId: string
  readonly created: boolean
  readonly status: number | undefined
  readonly fault: string | undefined
}

/** The platform, with a memory of its own: it outlives every kill. */
export type PlatformUnderTest = Awaited<ReturnType<typeof startPlatform>>

/** @param file where the platform keeps its data; read beside it, to see every request and not the last ones only */
export async function startPlatform(file: string, scene: Scene) {
  await using stack = new AsyncDisposableStack()
  const sandbox = stack.use(
    await createSandbox({
      file,
      credentials: CREDENTIALS,
      alertTokens: [ALERTS_TOKEN],
      profile: scene.profile,
      fixture: {
        ...worldOfPlatform(scene),
        times: { provisioningMs: 300, movingMs: 200, scalingLagMs: 300, listLagMs: scene.listLagMs },
      },
    }),
  )
  const reader = new DatabaseSync(file, { readOnly: true, timeout: 10_000 })
  stack.defer(() => reader.close())
  const since = reader.prepare('SELECT seq, facts, answer FROM request WHERE seq > ? ORDER BY seq')
  const one = reader.prepare('SELECT seq, facts, answer FROM request WHERE seq = ?')

  const posts: Post[] = []
  const faults = new Map<string, number>()
  const waiting = new Map<number, string>()
  const log: RecordedRequest[] = []
  const names = new Map<string, string>()
  const internals = reader.prepare(
    "SELECT value ->> 'internals' AS internals FROM object WHERE kind = 'pipe' AND id = ?",
  )
  let last = 0
  let lastCreateAt = 0
  let lastWriteAt = 0

  function take(row: Row): void {
    const request = JSON.parse(row.facts) as RecordedRequest // the sandbox wrote it
    const answer =
      row.answer === null ? undefined : (JSON.parse(row.answer) as NonNullable<RecordedRequest['answer']>) // so it did this
    const platformName = nameOf(request.body)
    if (request.operation === 'createPipe') lastCreateAt = Math.max(lastCreateAt, request.at)
    if (CHANGES.has(request.operation ?? '')) lastWriteAt = Math.max(lastWriteAt, request.at)
    if (answer === undefined) {
      waiting.set(row.seq, platformName)
      return
    }
    waiting.delete(row.seq)
    const isChange = CHANGES.has(request.operation ?? '')
    log.push({ ...request, seq: row.seq, answer, body: isChange ? request.body : undefined, headers: {} })
    if (answer.fault !== undefined) faults.set(answer.fault, (faults.get(answer.fault) ?? 0) + 1)
    if (request.operation !== 'createPipe') return
    posts.push({
      seq: row.seq,
      at: request.at,
      platformName,
      intentId: request.idempotencyKey ?? '',
      requestId: request.requestId,
      created: answer.done && request.authorization === 'right' && isCreated(answer),
      status: answer.status,
      fault: answer.fault,
    })
  }

  const open = stack.move()
  return {
    sandbox,
    /** Requests that change something that exists, in the order of their arrival, and all others without their bodies. */
    log,
    /** Names of pipes by their ids, of those too that are gone. */
    names,
    /** What the platform knows of the credentials of a pipe: a digest of each part. */
    credentials(pipeId: string) {
      const row = internals.get(pipeId)
      const { credentials = {} } = JSON.parse(String(row?.['internals'] ?? '{}')) as PipeInternals // the sandbox wrote it
      return credentials
    },
    /** Creates whose fate is known, in the order of their arrival. */
    get posts() {
      return posts.toSorted((a, b) => a.seq - b.seq)
    },
    /** How many requests of any kind met a fault, by its kind. */
    faults,
    /** When the last create arrived that is known of: ms since the epoch. */
    get lastCreateAt() {
      return lastCreateAt
    },
    /** The same of any request that changes something. */
    get lastWriteAt() {
      return lastWriteAt
    },
    get requests() {
      return last
    },
    /** Creates still being worked on, by the name of their pipe. */
    get underWay() {
      return new Set(waiting.values())
    },
    /** Reads what arrived since the last call. */
    drain() {
      for (const { id, name } of sandbox.pipes()) names.set(id, name)
      for (const seq of waiting.keys().toArray()) {
        const row = one.get(seq) as Row | undefined // a row of the sandbox's table
        if (row !== undefined) take(row)
      }
      for (const row of since.all(last) as unknown as readonly Row[]) {
        take(row)
        last = row.seq
      }
    },
    /** Pipes alive now, by their name. */
    alive() {
      const byName = new Map<string, PipeView[]>()
      for (const pipe of sandbox.pipes()) {
        const { name } = pipe
        byName.set(name, [...(byName.get(name) ?? []), pipe])
      }
      return byName
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

const CHANGES: ReadonlySet<string> = new Set([
  'createPipe',
  'updatePipe',
  'scalePipe',
  'putPipeSettings',
  'setPipeState',
  'deletePipe',
  'deleteQueryEndpoint',
])

interface Row {
  readonly seq: number
  readonly facts: string
  readonly answer: string | null
}

/** A fault may hide it, but what is done of a valid request is a pipe. */
function isCreated(answer: NonNullable<RecordedRequest['answer']>): boolean {
  return answer.fault !== undefined || answer.status === 200
}

function nameOf(body: unknown): string {
  if (typeof body !== 'object' || body === null || !('name' in body)) return ''
  return String(body.name)
}
