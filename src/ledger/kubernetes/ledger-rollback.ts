import { sleep, type Clock } from '../../lib/clock.ts'
import { isObject } from '../../lib/json.ts'
import type { Emit } from '../../contract/events.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { openCluster, type Cluster, type ClusterPlace } from './cluster.ts'
import { ClusterError, throwAsLedgerError } from './cluster-error.ts'
import { readLease, WRITES_ANNOTATION, writesIn } from './lease-object.ts'
import { secretOf, type LedgerSecret } from './ledger-secret.ts'
import { isRecordOf, keptOf, type Kept } from './record-object.ts'

/** ms between requests to the Secret while creates are refused. */
const AGAIN_MS = 1_000

/**
 * A rollback puts records in an earlier state, such as after an etcd restore, so newer pipes might be missing. A note
 * in the Secret makes all processes refuse creates until an operator accepts the rollback.
 */
export function createLedgerRollback(options: {
  readonly secret: LedgerSecret
  readonly clock: Clock
  readonly isReader: boolean
  readonly emit: Emit
}) {
  const { secret, clock, isReader, emit } = options
  const closing = new AbortController()
  /** The first rollback that is not in the Secret yet. Each notice makes a new object. */
  let unsaid: { readonly what: string } | undefined
  let isTold = false
  let failed = ''
  /** The highest rollback count seen; a lower one means that the Secret was rolled back. */
  let seen = secret.rollbacks()
  /** Accepted rollbacks when this process last knew all records. If there are more now, it missed an accepted one. */
  let accepted = secret.accepted()
  let isOpen = secret.rollback() !== undefined
  /** Whether this process read all records after the last notice. */
  let isCurrent = true
  let reading: Promise<unknown> | undefined
  let following: Promise<void> | undefined
  follow()

  /** Writes the rollback to the Secret with a higher count, because an earlier acceptance must not cover it. */
  async function say(): Promise<void> {
    const said = unsaid
    const isMissed = () => secret.accepted() > accepted
    await secret.change(() => {
      const setBacks = String(Math.max(secret.rollbacks(), seen) + 1)
      return isMissed() ? undefined : { setBack: secret.rollback() ?? said?.what, setBacks }
    })
    if (!isMissed()) tell()
    else if (isCurrent) accepted = secret.accepted()
    noteAcceptance()
    if (unsaid === said) [unsaid, isTold] = [undefined, false]
  }

  function noteAcceptance(): void {
    const wasOpen = isOpen
    isOpen = secret.rollback() !== undefined
    if (wasOpen && !isOpen) accepted = secret.accepted()
  }

  function tell(): void {
    if (unsaid === undefined || isTold) return
    isTold = true
    emit({ type: 'LedgerRolledBack', message: wordsOf(unsaid.what) })
  }

  async function readSecret(): Promise<void> {
    reading ??= secret.read('setBacks').finally(() => {
      reading = undefined
    })
    await reading
    noteAcceptance()
    if (secret.rollbacks() < seen) notice('its Secret is in an earlier state')
    seen = Math.max(seen, secret.rollbacks())
    follow()
  }

  function follow(): void {
    if (!isReader && known() !== undefined) following ??= untilAccepted()
  }

  /** Polls the Secret. Otherwise, this process would notice an acceptance only at the next create. */
  async function untilAccepted(): Promise<void> {
    while (known() !== undefined && !closing.signal.aborted) {
      try {
        await (unsaid === undefined ? readSecret() : say())
      } catch (error) {
        if (!(error instanceof LedgerError)) throw error
        failed = ` The Secret of the ledger cannot be used: ${error.message}`
        tell()
      }
      await sleep(clock, AGAIN_MS, closing.signal).catch(() => undefined)
    }
    following = undefined
  }

  function notice(what: string): void {
    unsaid = { what: unsaid?.what ?? what }
    isCurrent = false
    if (isReader) tell()
    follow()
  }

  function known(): string | undefined {
    const what = unsaid?.what ?? secret.rollback()
    return what === undefined ? undefined : `${wordsOf(what)}${unsaid === undefined ? '' : failed}`
  }

  return {
    notice,
    known,
    async noteCurrent() {
      isCurrent = true
      if (unsaid === undefined) await readSecret().catch(ignoreLedgerError)
      if (unsaid === undefined) accepted = secret.accepted()
    },
    /** @throws {LedgerError} if creates are refused or the Secret cannot be read */
    async assertNone() {
      if (unsaid === undefined) await readSecret()
      const why = known()
      if (why !== undefined) throw new LedgerError('corrupt', why)
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await following
      // Writes the rollback to the Secret, because other processes might not know of it.
      if (!isReader && unsaid !== undefined) await say().catch(ignoreLedgerError)
    },
  }
}

function ignoreLedgerError(error: unknown): void {
  if (!(error instanceof LedgerError)) throw error
}

function wordsOf(what: string): string {
  return (
    `the ledger was rolled back to an earlier state: ${what}. Creates are refused, because pipes created since then might be missing from it. ` +
    'Compare the ledger with the platform. Record each pipe that the ledger lacks with "pipewright adopt". Then run "pipewright ledger accept".'
  )
}

/** @param now undefined: the object is gone @returns undefined: no rollback */
export function recordRollback({ key, version, body }: Kept, now: Kept | undefined): string | undefined {
  if (now === undefined) return `the record of ${key} is gone`
  if (now.version < version) return `the record of ${key} was at version ${version}, and is at ${now.version}`
  // Each write raises the version, so another body at the same version is a rollback.
  if (now.version > version || now.body === body) return undefined
  return `the record of ${key} has another text at the same version ${version}`
}

/** Counts writes as the sum of the versions, because each write raises a version. */
export function writesOf(objects: Iterable<Kept>): number {
  let sum = 0
  for (const { version } of objects) sum += version
  return sum
}

export function writesRollback(before: number, now: number): string | undefined {
  if (now >= before) return undefined
  return `its records should show ${before} writes, and show only ${now}`
}

const TRIES = 20

/** @returns description of the accepted rollback. Undefined: none was detected */
export async function acceptKubernetesLedger(options: ClusterPlace): Promise<string | undefined> {
  await using cluster = await openCluster(options)
  const secret = await secretOf(cluster)
  const [what, times] = [secret.rollback(), secret.rollbacks()]
  if (what !== undefined)
    await secret.change(() => {
      if (secret.rollbacks() !== times)
        throw new LedgerError(
          'io',
          'another rollback was detected meanwhile. Compare the ledger with the platform again, and repeat the command.',
        )
      return { setBacks: String(times), accepted: String(times) }
    })
  // Comes last, because it hides the rollback. If the change above fails, the rollback must still be detected.
  const ofWrites = await acceptWrites(cluster).catch(throwAsLedgerError)
  return what ?? ofWrites
}

async function acceptWrites(cluster: Cluster): Promise<string | undefined> {
  const { api, leases, name, records } = cluster
  const before = writesIn(await readLease(cluster))
  // Listed after the Lease was read, because a write in between must not count as lost.
  const { items } = await api.list(records)
  const writes = writesOf(items.filter((object) => isRecordOf(name, object)).map(keptOf))
  const what = writesRollback(before, writes)
  if (what === undefined) return undefined
  for (let tries = 1; ; tries += 1) {
    const lease = await readLease(cluster)
    if (lease === undefined) return what
    const { annotations } = lease.metadata
    const next = { ...(isObject(annotations) && annotations), [WRITES_ANNOTATION]: String(writes) }
    try {
      await api.replace(`${leases}/${name}`, {
        ...lease,
        metadata: { ...lease.metadata, annotations: next },
      })
      return what
    } catch (error) {
      if (!(error instanceof ClusterError) || error.status !== 409 || tries === TRIES) throw error
    }
  }
}
