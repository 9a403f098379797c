import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { Settings } from '../config/settings.ts'
import { systemClock } from '../daemon/system-clock.ts'
import type { Catalog } from '../contract/catalog.ts'
import { openLedger, openLedgerToAct } from '../ledger/open.ts'
import { createSource, type LoadResult, type Source } from '../manifest/source.ts'
import { createPlatform, type PlatformClient } from '../platform/clients.ts'
import { createFreshSecrets, createMountedSecrets } from '../platform/secret-store.ts'
import { createBoard, type WritableBoard } from '../reconcile/state/status-board.ts'
import type { ReconcileContext } from '../reconcile/context.ts'
import { readBodySecrets } from '../reconcile/gather/body-secrets.ts'
import type { Emit } from '../contract/events.ts'
import type { Clock } from '../lib/clock.ts'
import { type Ledger, LedgerError, type MissingPipe, type OpenedLedger } from '../contract/ledger.ts'
import { createReconciler, type Reconciler } from '../reconcile/reconciler.ts'
import { createdOf, recordedOf } from '../reconcile/state/recorded.ts'
import { createStateStore } from '../reconcile/state/store.ts'
import {
  startEmbeddedSandbox,
  sandboxLedger,
  type EmbeddedSandbox,
  type SandboxUse,
} from './embedded-sandbox.ts'
import { assertTls, networkOf } from './compose-network.ts'
import type { Failpoints } from './failpoints.ts'
import { nobody, print, VERSION, type Io } from './io.ts'
import type { Progress } from './render/progress.ts'

/** Everything that decides and acts, put together from the settings. */
export interface Engine {
  readonly context: ReconcileContext
  readonly board: WritableBoard
  readonly reconciler: Reconciler
  readonly platform: PlatformClient
  /** A person asks for a check or a plan: secrets and credentials are what their files hold from now on, not a second ago. */
  readonly forgetSecrets: () => void
  readonly source: Source
  /** Of the platform that is worked with, the embedded one included. */
  readonly baseUrl: string | undefined
}

export interface ComposeOptions {
  readonly settings: Settings
  readonly ledger: Ledger
  readonly source: Source
  readonly board: WritableBoard
  readonly emit: Emit
  /** `--max-creates`, or Infinity when a person said yes. */
  readonly maxCreates: number
  readonly sandboxUse: SandboxUse
  readonly failpoints?: Failpoints | undefined
  /** As `Term.confirm`; undefined: nothing that this process does changes anything on the platform. */
  readonly confirm: (() => Promise<number>) | undefined
  /** As `PlatformOptions.assertMayAct`. */
  readonly assertMayAct?: (() => void) | undefined
  /** As `StateStore.olderThan`. */
  readonly olderThan?: (() => string | undefined) | undefined
}

const RESYNC_MS = 3_600_000

/** Time that is left of the shutdown grace, after a create that began just before the stop, to write down its outcome. */
const SETTLE_MS = 2_000

type LedgerToOpen = Pick<Settings, 'profile' | 'ledger' | 'ledgerInit' | 'sandbox' | 'baseUrl'>

/** Opens the ledger for a process that acts, or will. @throws {LedgerError} */
export function openLedgerToOwn(
  settings: LedgerToOpen & Pick<Settings, 'leaseMs' | 'requestTimeoutMs'>,
  emit: Emit,
  failpoints?: Failpoints,
): Promise<OpenedLedger> {
  return explained(settings, () =>
    openLedgerToAct(settings.ledger, {
      ...openOptions(settings, emit),
      mode: 'owner',
      leaseMs: settings.leaseMs,
      requestTimeoutMs: settings.requestTimeoutMs,
      beforeCommit: failpoints?.beforeCommit,
    }),
  )
}

/** Opens the ledger for a person's command. @throws {LedgerError} */
export function openLedgerToWrite(settings: LedgerToOpen, emit: Emit): Promise<Ledger> {
  return explained(settings, () =>
    openLedger(settings.ledger, { ...openOptions(settings, emit), mode: 'writer' }),
  )
}

function openOptions(settings: LedgerToOpen, emit: Emit) {
  return {
    init: settings.ledgerInit,
    profile: settings.profile.name,
    platform: platformName(settings),
    clock: systemClock,
    emit,
  }
}

/** Opens the ledger for a command that only looks. @throws {LedgerError} */
export function openLedgerToRead(settings: LedgerToRead): Promise<Ledger> {
  const { profile, platform } = settings
  const of = platform === undefined ? {} : { profile: profile.name, platform }
  const options = { mode: 'reader', init: 'never', ...of, clock: systemClock, emit: nobody } as const
  return explained(settings, () => openLedger(settings.ledger, options))
}

/** For whoever reads a ledger that goes on elsewhere. */
export function sayMoved(io: Io, { movedAt }: Ledger, { ledger }: Pick<Settings, 'ledger'>): void {
  if (movedAt === undefined) return
  print(
    io.stderr,
    `pipewright: ${ledger} was moved into another ledger on ${movedAt}: what was written since is there, and not in this one.`,
  )
}

/** For whoever reads a ledger of which something is known to be lost. */
export function sayPutBack(io: Io, { putBack, missingPipes = [] }: Ledger): void {
  if (putBack !== undefined) print(io.stderr, `pipewright: ${putBack}`)
  printMissing(io.stderr, missingPipes)
}

/** Every one, whatever their number: nothing else has their ids. */
export function printMissing(to: Io['stdout'], missing: readonly MissingPipe[]): void {
  if (missing.length === 0) return
  print(
    to,
    'Not in the ledger any more, and created a second time unless adopted before, where a manifest asks for it:',
  )
  for (const { command, id } of missing)
    print(to, `  ${command}${id === undefined ? ', with the id that the platform shows' : ''}`)
}

export interface LedgerToRead extends Pick<Settings, 'profile' | 'ledger' | 'sandbox'> {
  /** The platform that is asked about what it holds; undefined: none. */
  readonly platform?: string | undefined
}

async function explained<T>(settings: LedgerToRead, open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    const meant = error instanceof LedgerError && error.code === 'missing' && !settings.sandbox
    if (!meant || !existsSync(sandboxLedger(settings.profile))) throw error
    const hint = `There is one of the sandbox, which "npm start" keeps: add --sandbox to look at it.`
    throw new LedgerError('missing', `${error.message} ${hint}`, { cause: error })
  }
}

/** Files that settings name, of which nothing goes to a source, wherever they are. */
function ownFilesOf({
  alertsTokenFile,
  adminTokenFile,
  clientKeyFile,
  webhookUrl,
  webhookSecretFile,
}: Settings): readonly string[] {
  const urlFile = webhookUrl !== undefined && 'file' in webhookUrl ? webhookUrl.file : undefined
  const files = [alertsTokenFile, adminTokenFile, clientKeyFile, urlFile, webhookSecretFile]
  return files.filter((file) => file !== undefined)
}

/** Puts the parts together; what they hold is released with the stack. */
export async function compose(options: ComposeOptions, stack: AsyncDisposableStack): Promise<Engine> {
  const { settings, ledger, source, board, emit } = options
  const network = networkOf(settings)
  await assertTls(network.tls)
  const sandbox = settings.sandbox ? await openSandbox(settings, options.sandboxUse, stack) : undefined
  const mounted = createMountedSecrets(
    { ...settings, ownFiles: ownFilesOf(settings) },
    sandbox?.readSecretFile,
    emit,
  )
  const secrets = createFreshSecrets(mounted, systemClock)
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
      clock: systemClock,
      emit,
      random: Math.random,
      userAgent: `pipewright/${VERSION}`,
      confirm: options.confirm,
      assertMayAct: options.assertMayAct,
      fail: options.failpoints?.fail,
    }),
  )
  const { profile } = settings
  const context: ReconcileContext = {
    profile,
    platform,
    ledger,
    secrets,
    mounted,
    mask: secrets.mask,
    store: createStateStore({
      profile,
      hashKey: ledger.hashKey,
      clock: agreedClock(ledger),
      olderThan: options.olderThan,
    }),
    clock: systemClock,
    emit,
    random: Math.random,
    newId: randomUUID,
    timing: { intervalMs: settings.intervalMs, resyncMs: RESYNC_MS },
    healthyStates: settings.healthyStates,
    maxCreates: options.maxCreates,
    fail: options.failpoints?.fail,
  }
  const reconciler = createReconciler(context, board)
  return { context, board, reconciler, platform, forgetSecrets: secrets.forget, source, baseUrl }
}

/** What is noted in a ledger is waited for by whoever reads it, on another host perhaps. */
function agreedClock(ledger: Pick<Ledger, 'aheadMs'>): Clock {
  return { ...systemClock, now: () => systemClock.now() - ledger.aheadMs }
}

/** The sandbox reads the directory by itself, so that the first reading that counts finds everything new. */
async function openSandbox(
  settings: Settings,
  use: SandboxUse,
  stack: AsyncDisposableStack,
): Promise<EmbeddedSandbox> {
  const { state } = await openSource(settings).load(
    new Map(),
    { accept: 'normal' },
    new AbortController().signal,
  )
  return startEmbeddedSandbox({ settings, catalog: state.catalog, use }, stack)
}

const AGREEING_READINGS = 3

/**
 * Reads the directory as often as it takes to believe that what is missing is gone, and fills the world with it.
 * @param accept `normal`: a directory that lost most of what was created is not accepted
 */
export async function loadOnce(
  engine: Engine,
  signal: AbortSignal,
  accept: 'force' | 'normal' = 'force',
): Promise<Catalog> {
  const { store, ledger } = engine.context
  for (const record of await ledger.list()) store.note(record)
  const recorded = recordedOf(store.records())
  const created = createdOf(store.records())
  let result: LoadResult | undefined
  for (let reading = 0; reading < AGREEING_READINGS; reading += 1) {
    result = await engine.source.load(recorded, { accept, created }, signal)
    if (result.state.pending.size === 0 || result.state.catalog.problem !== undefined) break
  }
  if (result === undefined) throw new Error('there is at least one reading')
  store.setCatalog(result.state.catalog)
  await maskSecrets(engine.context)
  return result.state.catalog
}

/** Masks the secrets of all manifests: the platform can repeat any of them in what a command shows. */
async function maskSecrets({ store, secrets, mask }: ReconcileContext): Promise<void> {
  for (const { manifest } of store.catalog?.entries.values() ?? []) {
    const asked = manifest && store.asked(manifest)
    if (asked !== undefined) await readBodySecrets(secrets, mask, asked.body)
  }
}

export function openBoard(): WritableBoard {
  return createBoard()
}

/** @param progress of a command that a person waits for */
export function openSource(settings: Settings, progress?: Progress): Source {
  const onRead = (done: number, of: number) => progress?.show('Reading manifest', done, of)
  return createSource({ profile: settings.profile, root: settings.manifests, onRead })
}

/**
 * What a ledger is tied to: the sandbox, or where the platform answers. A port of this machine says little, as it may be
 * another one each time: a sandbox of one's own, a proxy beside the program.
 */
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
