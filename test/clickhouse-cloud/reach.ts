import type { Key } from '../../src/kinds/key.ts'
import { createModelSecrets } from '../reconcile/model-secrets.ts'
import type { PlatformOptions } from '../../src/platform/clients.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/profiles.ts'
import type { Ledger } from '../../src/contract/ledger.ts'
import { openMemoryLedger } from '../../src/ledger/open-sqlite-ledger.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { ParsedFile } from '../../src/manifest/validate/parse-file.ts'
import type { ReconcileContext, ReconcileResult } from '../../src/reconcile/context.ts'
import { recordedOf } from '../../src/reconcile/state/recorded.ts'
import { platform, secretsOf } from '../platform/support/platform.ts'
import { createIds, startEngine, USUAL } from '../reconcile/engine.ts'
import { createModelDirectory, createReader } from '../reconcile/model-directory.ts'
import { planOf } from '../reconcile/plan-of.ts'
import { ORGANIZATION, SERVICE_ID, startAsker } from './ask.ts'
import { createSkippedTime, type SkippedTime } from './skipped-time.ts'
import { wireStrict } from './strict-wire.ts'
import type { StrictOptions } from './strict-server.ts'

export const SERVICE = {
  apiVersion: 'pipewright/v1',
  kind: 'Service',
  metadata: { name: 'analytics' },
  spec: { organizationId: ORGANIZATION, serviceId: SERVICE_ID, credentials: { secretRef: { name: 'api' } } },
}

/** The same text is parsed once for all tests. */
const PARSED = new Map<string, ParsedFile>()

/** More than any wait of the client, which ends by itself. */
export const REQUEST_TIMEOUT_MS = 20_000

/** The platform client of one process, with its mounted secrets, and what else a reconcile needs. */
export function reach(baseUrl: string, clock: SkippedTime, options: Partial<PlatformOptions> = {}) {
  const mounted = new Map([
    ['api/keyId', 'key-1'],
    ['api/keySecret', 'se:cret'],
  ])
  const platformSecrets = secretsOf(mounted, clock)
  const { client } = platform({
    baseUrl,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    createDeadlineMs: REQUEST_TIMEOUT_MS,
    secrets: platformSecrets,
    clock,
    ...options,
  })
  const secrets = createModelSecrets(mounted)
  const shared = {
    ...USUAL,
    profile: CLICKHOUSE_CLOUD,
    platform: client,
    secrets,
    mask: platformSecrets.mask,
    clock,
    newId: createIds(),
  } as const satisfies Omit<ReconcileContext, 'ledger' | 'store'>
  return { client, mounted, shared }
}

/** What outlives a process: the strict server, the ledger, and time. */
export async function startAround(options: Partial<StrictOptions> = {}) {
  const asker = startAsker(options)
  const time = createSkippedTime()
  // The client finds out by its limit, which is over then.
  const http = wireStrict(asker.server, () => time.skip(REQUEST_TIMEOUT_MS))
  return { asker, time, http, ledger: newLedger(), [Symbol.asyncDispose]: () => http[Symbol.asyncDispose]() }
}

export function newLedger(): Ledger {
  return openMemoryLedger({ emit: () => undefined, hashKey: new Uint8Array(32).fill(7) }).ledger
}

export class Killed extends Error {}

export interface Wanted {
  readonly spec: JsonObject
  readonly policy?: JsonObject | undefined
}

/** A manifest of something of the service. */
export function manifestOf(kind: string, name: string, { spec, policy }: Wanted): JsonObject {
  return {
    apiVersion: 'pipewright/v1',
    kind,
    metadata: { name },
    ...(policy && { policy }),
    spec: { service: 'analytics', ...spec },
  }
}

/** Reconciles for as long as the queue would do so soon. @returns the last one */
export async function settled(
  reconcile: () => Promise<ReconcileResult>,
  isDone: (result: ReconcileResult) => boolean,
  time: SkippedTime,
): Promise<ReconcileResult> {
  for (let count = 0; count < 100; count += 1) {
    const result = await reconcile()
    if (result.next === undefined || result.next.why === 'drift' || isDone(result)) return result
    time.skip(result.next.afterMs)
  }
  throw new Error('it does not come to rest')
}

/** One process: what it remembers, decides and shows. @param olderThan as `StateStore.olderThan` */
export async function startProcess(
  parts: Omit<ReconcileContext, 'store'>,
  olderThan?: () => string | undefined,
) {
  const { context, store, board, reconciler } = await startEngine(parts, olderThan)
  const directory = createModelDirectory(PARSED, CLICKHOUSE_CLOUD)
  const reader = createReader(directory, 'normal')
  const { signal } = new AbortController()
  return {
    context,
    /** These files are all that there is; an empty text is none. @returns what is wrong with them */
    async read(documents: Readonly<Record<string, JsonObject | string>>): Promise<readonly string[]> {
      directory.files.clear()
      for (const [file, text] of Object.entries(documents))
        if (text !== '') directory.files.set(file, typeof text === 'string' ? text : JSON.stringify(text))
      const recorded = recordedOf(store.records())
      // What is gone is believed to be gone after three readings.
      let reading = reader.read(recorded)
      while (reading.isPending) reading = reader.read(recorded)
      const { catalog } = reading
      store.setCatalog(catalog)
      return catalog.findings.filter(({ severity }) => severity === 'error').map(({ message }) => message)
    },
    /** @param how a person asked for it; or nothing but time has passed */
    reconcile: (key: Key, how?: 'asked' | 'in passing'): Promise<ReconcileResult> =>
      reconciler.reconcile(key, {
        priority: how === 'in passing' ? 2 : 0,
        signal,
        reconcileId: context.newId(),
        changedAt: undefined,
        isAsked: how === 'asked',
        releaseSlot: async () => undefined,
      }),
    async plan(key: Key) {
      const { items } = await planOf({ context, ledger: context.ledger }, 'required')
      return items.find((item) => item.key === key)
    },
    /** As the last reconcile left it. */
    shown: (key: Key) => board.get(key),
  }
}
