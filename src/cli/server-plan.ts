import { setTimeout } from 'node:timers/promises'
import { ACTION_TYPES } from '../plan/action.ts'
import { z } from '../kinds/zod.ts'
import { folderOf } from './command-context.ts'
import type { Settings } from '../config/settings.ts'
import { MAX_PLAN_BYTES, type Plan, type PlanRequest, VERDICTS } from '../contract/plan.ts'
import { readDirectory } from '../manifest/files/read-directory.ts'
import { textNow } from '../manifest/source.ts'
import { DEFAULT_LIMITS } from '../manifest/yaml/limits.ts'
import type { Progress } from './render/progress.ts'
import { CommandError, type Io, VERSION } from './io.ts'
import { networkToOthers } from './compose-network.ts'
import { adminTokenOf, callServer, expectObject, type ServerCall, type ServerReply } from './server-client.ts'

/** Longer than a daemon takes for a plan at most: ms. */
const TIMEOUT_MS = 11 * 60_000

/** Asks a running daemon for the plan: it has the ledger, the credentials and the secrets. @throws {CommandError} */
export async function planAtServer(
  io: Io,
  settings: Settings,
  { server, progress }: { readonly server: string; readonly progress: Progress },
): Promise<Plan> {
  const request = await readRequest(settings, io.stop.stopping)
  const text = JSON.stringify(request)
  if (Buffer.byteLength(text) > MAX_PLAN_BYTES)
    throw new CommandError(
      `plan: the manifests take more than ${MAX_PLAN_BYTES} bytes as JSON. Plan without --server.`,
    )
  const token = await adminTokenOf(settings, 'plan --server')
  progress.show(`Waiting for the plan of ${server}`)
  const call = { command: 'plan', server, network: networkToOthers(settings) }
  const deadline = Date.now() + TIMEOUT_MS
  for (;;) {
    const reply = await callServer(io, {
      ...call,
      method: 'POST',
      path: 'api/v1/plan',
      token,
      body: { type: 'application/json', text },
      timeoutMs: TIMEOUT_MS,
    })
    const waitMs = reply.status === BUSY ? reply.retryAfterMs : undefined
    if (waitMs === undefined || Date.now() + waitMs > deadline) return planIn(call, reply)
    progress.show(`Waiting until ${server} has made another plan`)
    await setTimeout(waitMs, undefined, { signal: io.stop.stopping }).catch(() => {
      throw new CommandError('plan: stopped before the server answered.')
    })
  }
}

/** Somebody else's plan is being made: one at a time. */
const BUSY = 429

/** The members by which the exit code is found. */
const PLAN = z.looseObject({
  createLimit: z.looseObject({}),
  checkedBefore: z.looseObject({}),
  items: z.array(z.looseObject({ action: z.enum(ACTION_TYPES), verdict: z.enum(VERDICTS) })),
  findings: z.array(z.looseObject({ severity: z.string() })),
})

/** @throws {CommandError} when it is no plan of a version that this one knows */
function planIn(call: Pick<ServerCall, 'command' | 'server'>, reply: ServerReply): Plan {
  const body: unknown = expectObject(call, reply)
  if (PLAN.safeParse(body).success) return body as Plan // as the daemon made it
  throw new CommandError(
    `plan: ${call.server} answered with something that is not a plan of this version. Use the version of Pipewright that the daemon has (${VERSION} here).`,
  )
}

/** @throws {CommandError} a file cannot be sent, so that a plan without it would be wrong */
async function readRequest({ manifests, profile }: Settings, signal: AbortSignal): Promise<PlanRequest> {
  const reading = await readDirectory({
    root: manifests,
    profile,
    limits: DEFAULT_LIMITS,
    previous: undefined,
    trust: 'bytes',
    signal,
  })
  const unread = reading.findings.find(({ severity }) => severity === 'error')
  const why = reading.problem?.message ?? (unread && `${unread.file}: ${unread.message}`)
  if (why !== undefined) throw new CommandError(`plan: ${manifests}: ${why}`)
  const buffer = Buffer.allocUnsafe(DEFAULT_LIMITS.fileBytes + 1)
  const files: Record<string, string> = {}
  for (const [file, parsed] of reading.files) {
    const text = textNow(reading, file, buffer)
    const isUtf8 = parsed.findings.every(({ code }) => code !== 'not-utf8')
    if (text === undefined || !isUtf8)
      throw new CommandError(`plan: ${manifests}: ${file} ${isUtf8 ? 'changed meanwhile' : 'is not UTF-8'}.`)
    files[file] = text
  }
  return { revision: reading.revision, manifests: folderOf(manifests), files }
}
