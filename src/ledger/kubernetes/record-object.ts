import { z } from 'zod'
import { kindOf, nameOf, parseKey, type Key } from '../../kinds/key.ts'
import { sha256 } from '../../lib/digest.ts'
import { parseJson, valueAt, type JsonObject } from '../../lib/json.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { reasonOf } from '../../contract/view.ts'
import type { StoredRecord } from '../codec.ts'
import type { KubeObject } from './cluster-api.ts'

/* The object holds the record as text, because Kubernetes would alter its numbers and nulls. */

export const GROUP = 'pipewright.dev'
export const RECORD_API = `${GROUP}/v1`
const KIND = 'PipewrightRecord'
const LEDGER_LABEL = `${GROUP}/ledger`

export interface Kept {
  readonly key: Key
  /** The key's last version, also after its record was removed. */
  readonly version: number
  /** JSON. Undefined: the record was removed. */
  readonly body: string | undefined
  /**
   * The old key of a record that moves to this key. `body` counts only after the old key's object has `movedTo`,
   * because two objects cannot be written atomically.
   */
  readonly movedFrom: Moved | undefined
  /** JSON of the record that this key had before the move. */
  readonly before: string | undefined
  readonly movedTo: Moved | undefined
  /** Oldest first. */
  readonly history: readonly KeptLine[]
}

/** The other key of a move, and the version of that key's object. `movedFrom` has the old key, `movedTo` the new. */
export interface Moved {
  readonly key: Key
  readonly version: number
}

/** False while a move to this key is incomplete. */
export function hasArrived({ key, version, movedFrom }: Kept, at: (key: Key) => Kept | undefined): boolean {
  if (movedFrom === undefined) return true
  const movedTo = at(movedFrom.key)?.movedTo
  return movedTo?.key === key && movedTo.version === version
}

/** The record of this key. While a rename to this key is incomplete: the record that was there before. */
export function storedOf(kept: Kept, at: (key: Key) => Kept | undefined): StoredRecord | undefined {
  const { key, version, body, before } = kept
  if (hasArrived(kept, at)) return body === undefined ? undefined : { key, version, body }
  if (before === undefined) return undefined
  return { key, version: Number(valueAt(parseJson(before), 'version')), body: before }
}

/** `seq` is the position in the history of all keys. */
export interface KeptLine {
  readonly seq: number
  /** JSON. */
  readonly body: string
}

const LINES_KEPT = 20

export function withLines(before: readonly KeptLine[], added: readonly KeptLine[]): readonly KeptLine[] {
  return added.length === 0 ? before : [...before, ...added].slice(-LINES_KEPT)
}

const RecordedKey = z.custom<Key>((value) => typeof value === 'string' && parseKey(value) !== undefined)
const MovedShape = z.object({ key: RecordedKey, version: z.int() })

const Shape = z.object({
  key: RecordedKey,
  version: z.int().min(1),
  record: z.string().optional(),
  movedFrom: MovedShape.optional(),
  before: z.string().optional(),
  movedTo: MovedShape.optional(),
  history: z.array(z.object({ seq: z.int(), body: z.string() })).optional(),
})

/** Ignores the label, because a user can remove it, and a copied object can have it. */
export function isRecordOf(ledger: string, object: KubeObject): boolean {
  const key = keyIn(object)
  return key !== undefined && object.metadata.name === objectName(ledger, key)
}

export function ignoredWords(ledger: string, object: KubeObject): string {
  const key = keyIn(object)
  const why =
    key === undefined
      ? 'it has no key, such as Pipe/orders'
      : `its key is ${key}, so its name must be ${objectName(ledger, key)}`
  return (
    `the PipewrightRecord ${object.metadata.name} is ignored, because it is no record of the ledger ${ledger}: ${why}. ` +
    'If Pipewright wrote this object and a user edited it, restore it from a backup. If the object is a copy, or from another program, delete it.'
  )
}

function keyIn({ key }: KubeObject): Key | undefined {
  return typeof key === 'string' ? parseKey(key) : undefined
}

/** @throws {LedgerError} `corrupt`, naming the object */
export function keptOf(object: KubeObject): Kept {
  const reading = Shape.safeParse(object)
  if (!reading.success) {
    const [issue] = reading.error.issues
    throw new LedgerError(
      'corrupt',
      `the PipewrightRecord ${object.metadata.name} cannot be read (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}). It was ` +
        'edited by hand, or written by another version. Do not delete it. Restore it from a backup.',
    )
  }
  const { key, version, record, movedFrom, before, movedTo, history = [] } = reading.data
  return { key, version, body: record, movedFrom, before, movedTo, history }
}

/** @param resourceVersion the version to replace; undefined: create */
export function objectOf(
  ledger: string,
  kept: Kept,
  record: LedgerRecord | undefined,
  resourceVersion: string | undefined,
): JsonObject {
  const { key, version, body, movedFrom, before, movedTo, history } = kept
  return {
    apiVersion: RECORD_API,
    kind: KIND,
    metadata: {
      name: objectName(ledger, key),
      labels: { [LEDGER_LABEL]: ledger },
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    key,
    version,
    ...summaryOf(record),
    ...(body !== undefined && { record: body }),
    ...(movedFrom && { movedFrom: { ...movedFrom } }),
    ...(before !== undefined && { before }),
    ...(movedTo && { movedTo: { ...movedTo } }),
    history: history.map((line) => ({ ...line })),
  }
}

function summaryOf(record: LedgerRecord | undefined): JsonObject {
  if (record === undefined) return { reason: 'Forgotten' }
  const { conditions, remote } = record
  return {
    ready: conditions?.Ready.status ?? 'Unknown',
    reason: conditions === undefined ? 'New' : reasonOf(conditions),
    ...(remote && { remoteId: remote.id }),
  }
}

const PLAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
/** A hashed name. A plain name of this form is hashed, too, because it could equal a hashed name. */
const HASHED = /^sha256-[0-9a-f]{64}$/
const LONGEST_NAME = 180

/** Readable if Kubernetes allows the key's name, else hashed. */
export function objectName(ledger: string, key: Key): string {
  const name = nameOf(key)
  const isPlain = PLAIN.test(name) && name.length <= LONGEST_NAME && !HASHED.test(name)
  return `${ledger}.${kindOf(key).toLowerCase()}.${isPlain ? name : `sha256-${sha256(key)}`}`
}
