import { z } from 'zod'
import { kindOf, nameOf, parseKey, type Key } from '../../kinds/key.ts'
import { sha256 } from '../../lib/digest.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { reasonOf } from '../../contract/status.ts'
import type { KubeObject } from './cluster-api.ts'

/*
 * One record as an object of the cluster. Its text is kept as text: Kubernetes alters neither numbers nor what is null in it. What stands
 * beside it is for people (`kubectl get pipewrightrecords`).
 */

export const GROUP = 'pipewright.dev'
export const API_VERSION = `${GROUP}/v1`
export const KIND = 'PipewrightRecord'
/** The label that says of which ledger an object is. */
export const LEDGER_LABEL = `${GROUP}/ledger`

/** What an object holds. */
export interface Kept {
  readonly key: Key
  /** The last one that was given to the key: also when its record was forgotten. */
  readonly version: number
  /** The record as JSON; undefined: it was forgotten. */
  readonly body: string | undefined
  /**
   * It is the record of another key, which moves here. Nobody sees it until that one says the same ({@link Kept.movedTo}): two objects are
   * not written at once.
   */
  readonly movedFrom: Moved | undefined
  /** What was there before the move, as JSON. */
  readonly before: string | undefined
  /** The record was moved to another key. */
  readonly movedTo: Moved | undefined
  /** The oldest first. */
  readonly history: readonly Line[]
}

/** The other end of a move, and the version of its object: of the one that it comes from before it leaves, or of the one where it comes to. */
export interface Moved {
  readonly key: Key
  readonly version: number
}

/** Whether a record that moves here has left where it was. @param at what is kept of another key */
export function hasArrived({ key, version, movedFrom }: Kept, at: (key: Key) => Kept | undefined): boolean {
  if (movedFrom === undefined) return true
  const movedTo = at(movedFrom.key)?.movedTo
  return movedTo?.key === key && movedTo.version === version
}

/** The record of a key as everybody sees it, as JSON. @param at as that of {@link hasArrived} */
export function bodyOf(kept: Kept, at: (key: Key) => Kept | undefined): string | undefined {
  return hasArrived(kept, at) ? kept.body : kept.before
}

/** One line of the history, and its place in the history of all. */
export interface Line {
  readonly seq: number
  /** JSON. */
  readonly body: string
}

/** Lines of history that are kept for each key. */
const LINES_KEPT = 20

/** The last lines, with further ones behind them. */
export function withLines(before: readonly Line[], added: readonly Line[]): readonly Line[] {
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

/** Whether it is the record of its key, by its name: who copies one, or makes one by hand, may give it the label of a ledger. */
export function isRecordOf(ledger: string, object: KubeObject): boolean {
  const key = keyIn(object)
  return key !== undefined && object.metadata.name === objectName(ledger, key)
}

/** What is said of an object with the label of a ledger that is none of its records ({@link isRecordOf}). */
export function ignoredWords(ledger: string, object: KubeObject): string {
  const key = keyIn(object)
  const why =
    key === undefined
      ? 'it has no key as a record has one, such as Pipe/orders'
      : `it has the key ${key}, whose record is called ${objectName(ledger, key)}`
  return (
    `the PipewrightRecord ${object.metadata.name} is ignored, as it is no record of the ledger ${ledger}: ${why}. ` +
    'Delete it; if it was a record that somebody has edited, restore it from a backup.'
  )
}

function keyIn({ key }: KubeObject): Key | undefined {
  return typeof key === 'string' ? parseKey(key) : undefined
}

/**
 * @param object a record, by its name ({@link isRecordOf})
 * @throws {LedgerError} `corrupt`, naming the object
 */
export function keptOf(object: KubeObject): Kept {
  const reading = Shape.safeParse(object)
  if (!reading.success) {
    const [issue] = reading.error.issues
    throw new LedgerError(
      'corrupt',
      `the PipewrightRecord ${object.metadata.name} cannot be read (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}). It was ` +
        'edited by hand, or written by another version: restore it from a backup; do not delete it.',
    )
  }
  const { key, version, record, movedFrom, before, movedTo, history = [] } = reading.data
  return { key, version, body: record, movedFrom, before, movedTo, history }
}

/** The object to be written. @param resourceVersion of the object that it replaces; undefined: there is none */
export function objectOf(
  ledger: string,
  kept: Kept,
  record: LedgerRecord | undefined,
  resourceVersion: string | undefined,
): JsonObject {
  const { key, version, body, movedFrom, before, movedTo, history } = kept
  return {
    apiVersion: API_VERSION,
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
    ...(history.length > 0 && { history: history.map((line) => ({ ...line })) }),
  }
}

/** What `kubectl get` shows. */
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
/** Of a name that is not plain; no plain one is taken for it. */
const HASHED = /^sha256-[0-9a-f]{64}$/
const LONGEST_NAME = 180

/** The name of the object of a key: readable where Kubernetes allows the key's own name. */
export function objectName(ledger: string, key: Key): string {
  const name = nameOf(key)
  const isPlain = PLAIN.test(name) && name.length <= LONGEST_NAME && !HASHED.test(name)
  return `${ledger}.${kindOf(key).toLowerCase()}.${isPlain ? name : `sha256-${sha256(key)}`}`
}
