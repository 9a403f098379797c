import { setTimeout } from 'node:timers/promises'
import { ACTION_TYPES } from '../plan/action.ts'
import { z } from '../kinds/zod.ts'
import { folderOf } from './command-context.ts'
import type { Settings } from '../config/settings.ts'
import { type FileTree, MOST_PLANNED, type Plan, VERDICTS } from '../contract/plan.ts'
import { readTree } from '../manifest/files/read-tree.ts'
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
  const tree = await readTree(settings.manifests, io.stop.stopping)
  if ('problem' in tree) throw new CommandError(`${settings.manifests}: ${tree.problem}`)
  const bytes = tree.files.reduce((sum, file) => sum + file.bytes.length, 0)
  if (bytes > MOST_PLANNED.bytes) {
    throw new CommandError(
      `plan: the manifests have ${bytes} bytes; a server takes ${MOST_PLANNED.bytes}. Plan without --server.`,
    )
  }
  const token = await adminTokenOf(settings, 'plan --server')
  progress.show(`Waiting for the plan of ${server}`)
  const call = { command: 'plan', server, network: networkToOthers(settings) }
  const text = linesOf(tree, folderOf(settings.manifests))
  const deadline = Date.now() + TIMEOUT_MS
  for (;;) {
    const reply = await callServer(io, {
      ...call,
      method: 'POST',
      path: 'api/v1/plan',
      token,
      body: { type: 'application/x-ndjson', text },
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

const TEXTS = z.array(z.string())

/** The part of a plan by which it is shown, and its exit code found. */
const PLAN = z.looseObject({
  revision: z.string(),
  createLimit: z.looseObject({
    wanted: z.number(),
    limit: z.number().nullable(),
    reached: z.boolean(),
    services: z.array(z.looseObject({ service: z.string(), wanted: z.number(), made: z.number() })),
  }),
  checkedBefore: z.looseObject({ items: z.number(), oldestMs: z.number() }),
  items: z.array(
    z.looseObject({
      key: z.string(),
      action: z.enum(ACTION_TYPES),
      reason: z.string(),
      verdict: z.enum(VERDICTS),
      message: z.string(),
      outline: z.record(z.string(), z.string()),
      after: TEXTS,
      gives: TEXTS,
      takesAway: TEXTS,
      uncheckedSecrets: TEXTS,
      differences: z.array(z.unknown()),
    }),
  ),
  findings: z.array(z.looseObject({ severity: z.string(), message: z.string() })),
})

/** @throws {CommandError} when it is no plan of a version that this one knows */
function planIn(call: Pick<ServerCall, 'command' | 'server'>, reply: ServerReply): Plan {
  const body: unknown = expectObject(call, reply)
  if (PLAN.safeParse(body).success) return body as Plan // as the daemon made it
  throw new CommandError(
    `plan: ${call.server} answered with something that is not a plan of this version. Use the version of Pipewright that the daemon has (${VERSION} here).`,
  )
}

/** A line each, so that the server need not parse all at once. */
function linesOf({ files, ...head }: FileTree, manifests: string): string {
  const lines: string[] = [JSON.stringify({ ...head, manifests })]
  for (const { file, bytes } of files) {
    const text = bytes.toString('utf8')
    const isText = Buffer.from(text, 'utf8').equals(bytes)
    lines.push(JSON.stringify(isText ? { file, text } : { file, base64: bytes.toString('base64') }))
  }
  return `${lines.join('\n')}\n`
}
