import { stepContext } from './command-context.ts'
import { formatProblems, type SettingProblem } from '../config/setting-problem.ts'
import type { NotificationTarget } from '../config/notification-settings.ts'
import type { Settings } from '../config/settings.ts'
import { systemClock } from '../daemon/system-clock.ts'
import { sleep, type Clock } from '../lib/clock.ts'
import { readAddress, readSigningKey, type ReadSecret } from '../notify/address.ts'
import type { Post } from '../notify/delivery.ts'
import {
  noSentStateFile,
  openSentStateFile,
  openSentStateNote,
  type SentStateFile,
} from '../notify/sent-state.ts'
import { createNotifier, type Notifier } from '../notify/notifier.ts'
import { exchange } from '../platform/http-exchange.ts'
import { faultOfReply, type Network, openNetwork } from '../platform/network.ts'
import { createMountedSecrets } from '../platform/secret-store.ts'
import type { Emit } from '../contract/events.ts'
import { LedgerError, type Ledger, type Notes } from '../contract/ledger.ts'
import type { StatusBoard } from '../contract/status.ts'
import { nextSteps } from '../server/remedy.ts'
import { networkToOthers } from './compose-network.ts'
import { CommandError, EXIT, VERSION } from './io.ts'

const CONNECT_MS = 5_000

/**
 * A mistake in a reference is shown at the start, and not on the day on which something turns bad.
 * @throws {CommandError} when an address or a key cannot be read, or is none
 */
export async function assertAddresses(settings: Settings): Promise<void> {
  const problems = await Promise.all(settings.notifications.map((target) => problemsOf(target, settings)))
  if (problems.flat().length > 0) throw new CommandError(formatProblems(problems.flat()), EXIT.usage)
}

export interface NotifierParts {
  readonly ledger: Ledger
  readonly notes: Notes | undefined
  readonly board: StatusBoard
  readonly emit: Emit
  readonly confirm: () => Promise<number>
}

/** What was sent before is read again after this, where it cannot be read: ms. */
const AGAIN_MS = 1_000

/** Who is notified, put together from the settings. @returns undefined: it was given up before it is known what was sent before */
export async function openNotifier(
  settings: Settings,
  parts: NotifierParts,
  giveUp: AbortSignal,
): Promise<(Notifier & AsyncDisposable) | undefined> {
  while (!giveUp.aborted) {
    try {
      return await opened(settings, parts)
    } catch (error) {
      if (!(error instanceof LedgerError) || error.code !== 'io') throw error
      parts.emit({ type: 'LedgerRead', result: 'failed', durationMs: 0, message: error.message })
    }
    await sleep(systemClock, AGAIN_MS, giveUp).catch(() => undefined)
  }
  return undefined
}

async function opened(settings: Settings, parts: NotifierParts): Promise<Notifier & AsyncDisposable> {
  const { notifications, allowInsecureHttp, sandbox, publicUrl } = settings
  const { ledger, board, emit, confirm } = parts
  const network = openNetwork(networkToOthers(settings), CONNECT_MS)
  const notifier = createNotifier({
    targets: notifications.map(({ url, signingKey, ...target }) => ({
      ...target,
      route: { urlFile: url.path, keyFile: signingKey?.path, allowInsecureHttp },
    })),
    sentStates: await openSentStates(settings, parts.notes),
    records: await ledger.list(),
    board,
    context: {
      version: VERSION,
      sandbox,
      publicUrl,
      nextStep(key) {
        const status = board.get(key)
        const [first] = status === undefined ? [] : nextSteps(status, stepContext(settings), [])
        return first && [first.text, first.copy].filter((text) => text !== undefined).join(' ')
      },
    },
    clock: systemClock,
    emit,
    random: Math.random,
    confirm,
    post: httpPost(network, systemClock),
    readSecret: readerOf(settings),
    userAgent: `pipewright/${VERSION}`,
  })
  return { ...notifier, [Symbol.asyncDispose]: () => network.destroy() }
}

/** Notifications go out by the same exchange as requests to the platform. */
export function httpPost(network: Pick<Network, 'wayTo'>, clock: Clock): Post {
  return async ({ timeoutMs, maxReplyBytes, notAfter, ...request }, signal) => {
    const way = network.wayTo(request.origin)
    const seen = await exchange(way.dispatcher, way.routed({ ...request, method: 'POST' }), {
      clock,
      timeoutMs,
      maxReplyBytes,
      signal,
      mayStart: () => clock.monotonic() < notAfter,
      onSent: () => undefined,
      onWhole: () => undefined,
    })
    if (seen.type !== 'reply') return seen
    const fault = faultOfReply(seen, way.proxy)
    if (fault !== undefined) return { type: 'silence', why: 'error', code: undefined, fault }
    return { ...seen, body: way.echoes(seen.body) }
  }
}

/** What was sent is kept with the ledger, or beside it, and lasts as long as it does. */
async function openSentStates({ ledger }: Settings, notes: Notes | undefined): Promise<SentStateFile> {
  if (notes !== undefined) return openSentStateNote(notes)
  return ledger.startsWith('sqlite:')
    ? openSentStateFile(`${ledger.slice('sqlite:'.length)}.notifications.json`)
    : noSentStateFile()
}

/** They are the platform's as well: never out of the directory that manifests may name. */
function readerOf(settings: Settings): ReadSecret {
  const mounted = createMountedSecrets(settings)
  return async (file) => mounted.readFile(file)
}

async function problemsOf(
  { url, signingKey }: NotificationTarget,
  settings: Settings,
): Promise<readonly SettingProblem[]> {
  const readSecret = readerOf(settings)
  const { allowInsecureHttp } = settings
  const address = await readAddress(url.path, { readSecret, allowInsecureHttp })
  const key = signingKey === undefined ? undefined : await readSigningKey(signingKey.path, readSecret)
  return [
    ...(address.found ? [] : [problemAt(url.from, address.why, 'name a file that holds the URL to send to')]),
    ...(signingKey === undefined || key === undefined || key.found
      ? []
      : [problemAt(signingKey.from, key.why, 'name a file that holds the key')]),
  ]
}

function problemAt(from: string, why: string, right: string): SettingProblem {
  return { setting: 'notifications', from, given: undefined, why, right }
}
