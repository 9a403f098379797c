import type { Settings } from '../config/settings.ts'
import { formatProblems } from '../config/setting-sources.ts'
import type { Term } from '../contract/leadership.ts'
import { LedgerError, type Notes } from '../contract/ledger.ts'
import { sleep, type Clock } from '../lib/clock.ts'
import { type DeliveryParts, type Target, resolveTarget } from '../notify/delivery.ts'
import { openMemory, type WebhookMemory, createWebhook } from '../notify/webhook.ts'
import type { ReconcileContext } from '../reconcile/context.ts'
import { exchange } from '../platform/http-exchange.ts'
import { faultOfReply, openNetwork } from '../platform/network.ts'
import { createMountedSecrets } from '../platform/secret-store.ts'
import { messageOf } from '../plan/reason.ts'
import { aboutOf } from '../server/shown-resource.ts'
import { stepContext } from './command-context.ts'
import type { DaemonRun } from './compose.ts'
import { networkToOthers } from './compose-network.ts'
import { VERSION, misuse } from './io.ts'

const CONNECT_MS = 5_000
const TIMEOUT_MS = 10_000
const MAX_REPLY_BYTES = 16 * 1024

/** A failed read of the ledger is repeated after this time. */
const AGAIN_MS = 1_000

/** @throws {CommandError} if the URL or the secret cannot be read */
export async function assertWebhook(settings: Settings): Promise<void> {
  const target = await targetReader(settings)?.()
  if (target === undefined || target.url !== undefined) return
  const right = 'correct the file, or the setting that names it'
  misuse(formatProblems([{ from: '--webhook-url', why: target.why, right }]))
}

/** @returns undefined if no webhook is configured, or if `giveUp` was aborted first */
export async function openWebhook(
  settings: Settings,
  { engine, notes, events: { emit } }: Pick<DaemonRun, 'engine' | 'notes' | 'events'>,
  term: Pick<Term, 'confirm'>,
  giveUp: AbortSignal,
) {
  const readNow = targetReader(settings)
  const memory = readNow && (await memoryIn(notes, { clock: engine.context.clock, emit, giveUp }))
  if (readNow === undefined || memory === undefined) return undefined
  const { context, board, reconciler } = engine
  reconciler.problems.remember(memory.before)
  const network = openNetwork(networkToOthers(settings), CONNECT_MS)
  const webhook = createWebhook({
    memory,
    problems: () => reconciler.problems.reported(),
    words(key) {
      const view = board.get(key)
      const commands = stepContext(settings)
      return view && messageOf(view.because, aboutOf(view, commands), commands)
    },
    revision: () => context.store.revision,
    isSandbox: settings.sandbox,
    publicUrl: settings.publicUrl,
    emit,
    readTarget: readNow,
    post: httpPost(network, context.clock),
    confirm: () => term.confirm(),
    clock: context.clock,
    random: Math.random,
    userAgent: `pipewright/${VERSION}`,
  })
  return { ...webhook, [Symbol.asyncDispose]: () => network.destroy() }
}

function targetReader(settings: Settings): (() => Promise<Target>) | undefined {
  const { webhookUrl, webhookSecretFile: secretFile, allowInsecureHttp } = settings
  if (webhookUrl === undefined) return undefined
  const mounted = createMountedSecrets(settings)
  return () => resolveTarget({ webhookUrl, secretFile, allowInsecureHttp }, (file) => mounted.readFile(file))
}

async function memoryIn(
  notes: Notes,
  { clock, emit, giveUp }: Pick<ReconcileContext, 'clock' | 'emit'> & { readonly giveUp: AbortSignal },
): Promise<WebhookMemory | undefined> {
  while (!giveUp.aborted) {
    try {
      return await openMemory(notes)
    } catch (error) {
      if (!(error instanceof LedgerError) || error.code !== 'io') throw error
      emit({ type: 'LedgerRead', result: 'failed', durationMs: 0, message: error.message })
    }
    await sleep(clock, AGAIN_MS, giveUp).catch(() => undefined)
  }
  return undefined
}

export function httpPost(
  network: Pick<ReturnType<typeof openNetwork>, 'wayTo'>,
  clock: Clock,
): DeliveryParts['post'] {
  return async ({ url: { origin, pathname, search }, headers, body, notAfter }, signal) => {
    const way = network.wayTo(origin)
    const request = { origin, path: `${pathname}${search}`, method: 'POST', headers, body } as const
    const limits = { clock, timeoutMs: TIMEOUT_MS, maxReplyBytes: MAX_REPLY_BYTES, signal, notAfter }
    const seen = await exchange(way.dispatcher, way.routed(request), limits)
    if (seen.type !== 'reply') return seen
    const fault = faultOfReply(seen, way.proxy)
    return fault === undefined ? seen : { type: 'silence', why: 'error', code: undefined, fault }
  }
}
