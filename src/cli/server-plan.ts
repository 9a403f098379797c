import { ACTION_TYPES } from '../plan/action.ts'
import { z } from '../kinds/zod.ts'
import { folderOf } from './command-context.ts'
import type { Settings } from '../config/settings.ts'
import { MAX_PLAN_BYTES, type Plan, type PlanRequest, VERDICTS } from '../contract/plan.ts'
import { readDirectory } from '../manifest/files/read-directory.ts'
import { textNow } from '../manifest/files/read-directory.ts'
import { DEFAULT_LIMITS } from '../manifest/yaml/limits.ts'
import type { Progress } from './render/progress.ts'
import { CommandError, type Io, VERSION } from './io.ts'
import { networkToOthers } from './compose-network.ts'
import { adminTokenOf, callServer, expectObject } from './server-client.ts'

/** For another plan and this one: ms. */
const TIMEOUT_MS = 21 * 60_000

/** With the daemon's ledger, credentials and secrets. @throws {CommandError} */
export async function planAtServer(
  io: Io,
  settings: Settings,
  { server, progress }: { readonly server: string; readonly progress: Progress },
): Promise<Plan> {
  const body = JSON.stringify(await readRequest(settings, io.stop.stopping))
  if (Buffer.byteLength(body) > MAX_PLAN_BYTES)
    throw new CommandError(
      `plan: the manifests take more than ${MAX_PLAN_BYTES} bytes as JSON. Plan without --server.`,
    )
  const token = await adminTokenOf(io, settings, 'plan --server')
  progress.show(`Waiting for the plan of ${server}`)
  const call = { command: 'plan', server, network: networkToOthers(settings) }
  const reply = await callServer(io, { ...call, path: 'api/v1/plan', token, body, timeoutMs: TIMEOUT_MS })
  const plan: unknown = expectObject(call, reply)
  if (PLAN.safeParse(plan).success) return plan as Plan // as the daemon made it
  throw new CommandError(
    `plan: ${server} answered with something that is not a plan of this version. Use the version of Pipewright that the daemon has (${VERSION} here).`,
  )
}

/** They decide the exit code. */
const PLAN = z.looseObject({
  createLimit: z.looseObject({}),
  checkedBefore: z.looseObject({}),
  items: z.array(z.looseObject({ action: z.enum(ACTION_TYPES), verdict: z.enum(VERDICTS) })),
  findings: z.array(z.looseObject({ severity: z.string() })),
})

/** @throws {CommandError} if a file cannot be sent: the plan would be wrong */
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
  const files: Record<string, string> = {}
  for (const [file, { findings }] of reading.files) {
    const isText = findings.every(({ code }) => code !== 'not-utf8')
    const text = isText ? textNow(reading, file, DEFAULT_LIMITS) : undefined
    if (text === undefined)
      throw new CommandError(`plan: ${manifests}: ${file} ${isText ? 'changed meanwhile' : 'is not UTF-8'}.`)
    files[file] = text
  }
  return { revision: reading.revision, manifests: folderOf(manifests), files }
}
