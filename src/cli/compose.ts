import type { Secret } from '../lib/secret.ts'
import type { SecretMask } from '../lib/mask/secret-mask.ts'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { PROFILES } from '../kinds/profiles/profiles.ts'
import { ownFilesOf, type Settings } from '../config/settings.ts'
import type { Catalog } from '../contract/catalog.ts'
import { openLedger } from '../ledger/open.ts'
import { AGREEING } from '../manifest/catalog/deletion-grace.ts'
import { createSource, type Source } from '../manifest/source.ts'
import { createPlatform } from '../platform/clients.ts'
import { createFreshSecrets, createMountedSecrets, secretsIn } from '../platform/secret-store.ts'
import { createBoard, type WritableBoard } from '../reconcile/state/status-board.ts'
import type { ReconcileContext } from '../reconcile/context.ts'
import { readBodySecrets } from '../reconcile/gather/body-secrets.ts'
import type { Emit, EventBus } from '../contract/events.ts'
import type { Clock } from '../lib/clock.ts'
import { type Ledger, LedgerError, type Notes, type OpenedLedger } from '../contract/ledger.ts'
import { createReconciler } from '../reconcile/reconciler.ts'
import { createdOf, recordedOf } from '../reconcile/state/recorded.ts'
import { createStateStore } from '../reconcile/state/store.ts'
import { startEmbeddedSandbox, sandboxLedger } from './embedded-sandbox.ts'
import { assertTls, networkOf } from './compose-network.ts'
import { failpointsHere } from '../contract/failpoint.ts'
import type { Leadership, Term } from '../contract/leadership.ts'
import type { Daemon } from '../daemon/daemon.ts'
import type { Leading } from '../daemon/leader-state.ts'
import { CommandError, nobody, VERSION, type Io } from './io.ts'
import { warn } from './render/terminal.ts'
import type { Progress } from './render/progress.ts'

export type Engine = Awaited<ReturnType<typeof compose>>

export interface DaemonRun {
  readonly settings: Settings
  readonly stop: Io['stop']
  readonly events: EventBus
  readonly leading: Leading
  readonly leadership: Leadership
  readonly notes: Notes
  readonly engine: Engine
  readonly daemon: Daemon
}

/** `maxCreates`: Infinity with `--yes`. */
interface ComposeOptions extends Pick<ReconcileContext, 'ledger' | 'clock' | 'emit' | 'maxCreates'> {
  readonly settings: Settings
  readonly source: Source
  readonly board: WritableBoard
  /** Whether the sandbox keeps its state on disk. */
  readonly keepsSandbox: boolean
  /** Throws if another process is leader. Undefined: this process only reads the platform. */
  readonly confirm: (() => Promise<number>) | undefined
  readonly assertMayAct?: (() => void) | undefined
  readonly olderThan?: (() => string | undefined) | undefined
}

const RESYNC_MS = 3_600_000

/** The part of the shutdown grace for writing a create's outcome: ms. */
const SETTLE_MS = 2_000

/** Opens the ledger for a process that can become leader. */
export function openLedgerToOwn(
  settings: Settings,
  parts: Pick<ReconcileContext, 'clock' | 'emit'> & { readonly patienceMs?: number },
): Promise<OpenedLedger> {
  return explained(settings, () =>
    openLedger(settings.ledger, {
      ...parts,
      mode: 'owner',
      init: settings.ledgerInit,
      profile: settings.profile.name,
      platform: platformName(settings),
      leaseMs: settings.leaseDurationMs,
      requestTimeoutMs: settings.requestTimeoutMs,
      beforeCommit: failpointsHere()?.beforeCommit,
    }),
  )
}

/** Becomes leader for a command. If another process is leader, says so and waits. @throws {CommandError} on a stop */
export async function openLedgerToLead(
  { clock, stop, stderr }: Io,
  settings: Settings,
  emit: Emit,
  stack: AsyncDisposableStack,
): Promise<OpenedLedger & { readonly term: Term }> {
  const opened = await openLedgerToOwn(settings, { clock, emit })
  stack.use(opened.ledger)
  const { leadership } = opened
  try {
    let term = await leadership.attempt(stop.stopping)
    if (term === undefined) {
      const holder = leadership.leader()?.holder ?? 'Another process'
      warn({ stderr }, `${holder} owns the ledger. Waiting to see whether that process still runs.`)
      term = await leadership.acquire(stop.stopping, 'refuse')
    }
    stack.defer(() => term.release())
    return { ...opened, term }
  } catch (error) {
    if (!stop.stopping.aborted) throw error
    throw new CommandError(`stopped by ${String(stop.stopping.reason)} before anything was written`)
  }
}

export function openLedgerToRead(settings: LedgerToRead, clock: Clock): Promise<Ledger> {
  const { profile, platform } = settings
  const of = platform === undefined ? {} : { profile: profile.name, platform }
  const options = { mode: 'reader', init: 'never', ...of, clock, emit: nobody } as const
  return explained(settings, async () => (await openLedger(settings.ledger, options)).ledger)
}

export function sayMoved(io: Io, { movedAt }: Ledger, { ledger }: Pick<Settings, 'ledger'>): void {
  if (movedAt === undefined) return
  warn(io, `${ledger} was moved to another ledger on ${movedAt}. Records since then are only in that ledger.`)
}

interface LedgerToRead extends Pick<Settings, 'profile' | 'ledger' | 'sandbox'> {
  /** The platform that the ledger must belong to. Undefined: any. */
  readonly platform?: string | undefined
}

async function explained<T>(settings: LedgerToRead, open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof LedgerError) || error.code !== 'missing') throw error
    const { profile, sandbox } = settings
    const found = [profile, ...PROFILES].find((one) => existsSync(sandboxLedger(one)))
    if (found === undefined || (sandbox && found === profile)) throw error
    const flags = found === profile ? '--sandbox' : `--sandbox --profile ${found.name}`
    const hint = `The sandbox of "npm start" has a ledger. To read it, add ${flags}.`
    throw new LedgerError('missing', `${error.message} ${hint}`, { cause: error })
  }
}

export async function compose(options: ComposeOptions, stack: AsyncDisposableStack) {
  const { settings, ledger, source, board, clock, emit } = options
  const network = networkOf(settings)
  await assertTls(network.tls)
  const sandbox = settings.sandbox ? await openSandbox(settings, options.keepsSandbox, stack) : undefined
  const mounted = createMountedSecrets(
    { ...settings, ownFiles: ownFilesOf(settings) },
    sandbox?.readSecretFile,
    emit,
  )
  const secrets = createFreshSecrets(mounted, clock)
  const baseUrl = sandbox?.url ?? settings.baseUrl
  const platform = stack.use(
    createPlatform({
      baseUrl,
      alertsBaseUrl: sandbox?.url ?? settings.alertsBaseUrl,
      alertsTokenFile: settings.alertsTokenFile,
      secrets,
      network,
      budget: settings.apiBudget,
      requestTimeoutMs: settings.requestTimeoutMs,
      createDeadlineMs: Math.min(settings.requestTimeoutMs, settings.shutdownGraceMs - SETTLE_MS),
      clock,
      emit,
      random: Math.random,
      userAgent: `pipewright/${VERSION}`,
      confirm: options.confirm,
      assertMayAct: options.assertMayAct,
      fail: failpointsHere()?.fail,
    }),
  )
  const { profile } = settings
  const store = createStateStore({
    profile,
    hashKey: ledger.hashKey,
    // Uses the time of the ledger's clock, because other hosts read the recorded times.
    clock: { ...clock, now: () => clock.now() - ledger.aheadMs },
    olderThan: options.olderThan,
  })
  await maskSent(secretsIn(settings.secretsDir, sandbox?.readSecretFile), { ledger, store }, secrets.mask)
  const context: ReconcileContext = {
    profile,
    platform,
    ledger,
    secrets,
    mask: secrets.mask,
    store,
    clock,
    emit,
    random: Math.random,
    newId: randomUUID,
    timing: { intervalMs: settings.intervalMs, resyncMs: RESYNC_MS },
    healthyStates: settings.healthyStates,
    maxCreates: options.maxCreates,
    fail: failpointsHere()?.fail,
  }
  const reconciler = createReconciler(context, board)
  return {
    context,
    board,
    reconciler,
    platform,
    /** Before a requested check or plan, drops cached secrets and credentials. */
    forgetSecrets: secrets.forget,
    source,
    baseUrl,
  }
}

/** Masks each secret that was ever sent, because a reply can repeat a secret whose manifest is gone. */
async function maskSent(
  mounted: AsyncIterable<Secret>,
  { ledger, store }: Pick<ReconcileContext, 'ledger' | 'store'>,
  mask: SecretMask,
): Promise<void> {
  const records = await ledger.list().catch(() => []) // the engine says why
  const sent = new Set(records.flatMap(({ applied }) => Object.values(applied?.secrets ?? {})))
  if (sent.size === 0) return
  for await (const secret of mounted) if (sent.has(store.hashOf(secret))) mask.add(secret.reveal())
}

interface LookParts extends Pick<ComposeOptions, 'settings' | 'ledger' | 'source'> {
  readonly accept: 'force' | 'normal'
}

/** Also reads the manifests. */
export async function composeToLook(
  { clock, stop }: Pick<Io, 'clock'> & { readonly stop: Pick<Io['stop'], 'stopping'> },
  { accept, ...parts }: LookParts,
  stack: AsyncDisposableStack,
) {
  const look = { board: createBoard(), emit: nobody, keepsSandbox: false, confirm: undefined } as const
  const engine = await compose({ ...parts, ...look, clock, maxCreates: parts.settings.maxCreates }, stack)
  return { ...engine, catalog: await loadOnce(engine, stop.stopping, accept) }
}

/** Reads with a separate source. Otherwise, the engine's source would not report these manifests as changed. */
async function openSandbox(settings: Settings, keeps: boolean, stack: AsyncDisposableStack) {
  const { state } = await openSource(settings).load(
    new Map(),
    { accept: 'normal' },
    new AbortController().signal,
  )
  return startEmbeddedSandbox({ settings, catalog: state.catalog, keeps }, stack)
}

/** Reads until each removal is confirmed. @param accept `normal`: refuses if most recorded manifests are gone */
export async function loadOnce(
  engine: Engine,
  signal: AbortSignal,
  accept: 'force' | 'normal',
): Promise<Catalog> {
  const { store, ledger } = engine.context
  for (const record of await ledger.list()) store.note(record)
  const recorded = recordedOf(store.records())
  const created = createdOf(store.records())
  for (let reading = 1; ; reading += 1) {
    const { catalog, pending } = (await engine.source.load(recorded, { accept, created }, signal)).state
    if (pending.size > 0 && catalog.problem === undefined && reading < AGREEING) continue
    store.setCatalog(catalog)
    await maskSecrets(engine.context)
    return catalog
  }
}

/** Masks the secrets of all manifests, because a reply can repeat any of them. */
async function maskSecrets({ store, secrets, mask }: ReconcileContext): Promise<void> {
  for (const { manifest } of store.catalog?.entries.values() ?? []) {
    const asked = manifest && store.asked(manifest)
    if (asked !== undefined) await readBodySecrets(secrets, mask, asked.body)
  }
}

/** @param clock to wait until new files are complete. Undefined: reads the files immediately */
export function openSource({ profile, manifests }: Settings, clock?: Clock, progress?: Progress): Source {
  const onRead = (done: number, of: number) => progress?.show('Reading manifest', done, of)
  return createSource({ profile, root: manifests, clock, onRead })
}

/** The platform's name in the ledger. Omits a local port, because the port of a proxy can change. */
export function platformName({
  sandbox,
  baseUrl,
}: Pick<Settings, 'sandbox' | 'baseUrl'>): string | undefined {
  if (sandbox) return 'the sandbox'
  if (baseUrl === undefined) return undefined
  const { protocol, hostname, origin, pathname } = new URL(baseUrl)
  const local = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
  return `${local ? `${protocol}//localhost` : origin}${pathname.replace(/\/+$/, '')}`
}
