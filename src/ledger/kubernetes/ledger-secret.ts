import type { Cluster } from './cluster.ts'
import { randomBytes } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { LedgerError, type Notes } from '../../contract/ledger.ts'
import { ClusterError, asLedgerError, throwAsLedgerError } from './cluster-error.ts'
import { findObject, type ClusterApi, type KubeObject } from './cluster-api.ts'

export type LedgerSecret = ReturnType<typeof opened>

/** A change of the Secret. An undefined member is removed. */
interface SecretMembers {
  readonly platform?: string | undefined
  readonly profile?: string | undefined
  readonly hasRecords?: string | undefined
  readonly sentState?: string | undefined
  readonly setBack?: string | undefined
  /** Counts of detected and of accepted rollbacks. */
  readonly setBacks?: string | undefined
  readonly accepted?: string | undefined
  readonly movedAt?: string | undefined
}

/** Version of the Secret's format. A program that only knows earlier formats refuses it. */
const FORMAT = 1

export async function readLedgerSecret({ api, secrets, name }: Cluster): Promise<LedgerSecret | undefined> {
  const object = await findObject(api, `${secrets}/${name}`).catch(throwAsLedgerError)
  return object && opened(api, secrets, object)
}

export async function secretOf(cluster: Cluster): Promise<LedgerSecret> {
  const secret = await readLedgerSecret(cluster)
  if (secret !== undefined) return secret
  throw new LedgerError('missing', `there is no ledger ${cluster.shown}. Correct --ledger.`)
}

/** If another process has just created the Secret, returns that Secret. An import (`given`) fails instead. */
export async function createLedgerSecret(
  cluster: Cluster,
  given?: SecretMembers & { readonly hashKey: Uint8Array },
): Promise<LedgerSecret> {
  const { api, secrets, name } = cluster
  const { hashKey = randomBytes(32), ...members } = given ?? {}
  try {
    const object = await api.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name },
      type: 'Opaque',
      data: encoded({ ...bytesIn(members), hashKey, format: Buffer.from(String(FORMAT)) }),
    })
    return opened(api, secrets, object)
  } catch (error) {
    const isThere = error instanceof ClusterError && error.status === 409 && given === undefined
    const secret = isThere ? await readLedgerSecret(cluster) : undefined
    if (secret !== undefined) return secret
    throw asLedgerError(error)
  }
}

function bytesIn(members: SecretMembers): Record<string, Buffer> {
  const texts = Object.entries(members) as [string, string | undefined][]
  return Object.fromEntries(
    texts.flatMap(([member, text]) => (text === undefined ? [] : [[member, Buffer.from(text)]])),
  )
}

function opened(api: ClusterApi, collection: string, first: KubeObject) {
  let object = first
  const { name } = first.metadata
  const textOf = (member: string) => bytesOf(object, member)?.toString('utf8')
  const hashKey = bytesOf(first, 'hashKey')
  const format = Number(textOf('format'))
  if (format > FORMAT)
    throw new LedgerError(
      'newer',
      `the ledger of the Secret ${name} was written by a later version of Pipewright (format ${format}, known: ${FORMAT}). Use that version.`,
    )
  if (hashKey?.length !== 32 || format !== FORMAT)
    throw new LedgerError(
      'corrupt',
      `the Secret ${name} is not the Secret of a ledger, or was edited: Pipewright did not write its hashKey and format. Restore it from a backup.`,
    )
  const accepted = () => countOf(textOf('accepted')) ?? 0
  // An invalid number counts as a rollback.
  const rollbacks = () =>
    textOf('setBacks') === undefined ? 0 : (countOf(textOf('setBacks')) ?? accepted() + 1)
  return {
    hashKey: new Uint8Array(hashKey),
    platform: () => textOf('platform'),
    profile: () => textOf('profile'),
    hasRecords: () => textOf('hasRecords') === 'true',
    rollbacks,
    accepted,
    /** Description of the last rollback. Undefined: none or accepted. */
    rollback: () =>
      rollbacks() > accepted() ? (textOf('setBack') ?? 'its Secret records a rollback') : undefined,
    movedAt: () => textOf('movedAt'),
    async read(member: keyof SecretMembers): Promise<string | undefined> {
      const found = await findObject(api, `${collection}/${name}`).catch(throwAsLedgerError)
      if (found === undefined)
        throw new LedgerError(
          'missing',
          `the Secret ${name} of the ledger is gone: restore it from a backup.`,
        )
      object = found
      return textOf(member)
    },
    /** @param asked a change, or a function that returns a change or undefined. It runs again after a conflict */
    async change(asked: SecretMembers | (() => SecretMembers | undefined)): Promise<void> {
      for (let tries = 1; ; tries += 1) {
        const members = typeof asked === 'function' ? asked() : asked
        if (members === undefined) return
        const data: Record<string, Buffer> = {}
        for (const member of Object.keys(isObject(object['data']) ? object['data'] : {})) {
          const bytes = bytesOf(object, member)
          if (bytes !== undefined && !(member in members)) data[member] = bytes
        }
        try {
          const next = encoded({ ...data, ...bytesIn(members) })
          object = await api.replace(`${collection}/${name}`, { ...object, data: next })
          return
        } catch (error) {
          if (!(error instanceof ClusterError) || error.status !== 409 || tries === 3)
            throw asLedgerError(error)
          object = await api.get(`${collection}/${name}`).catch(throwAsLedgerError)
        }
      }
    },
  }
}

export function countOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}

function bytesOf({ data }: KubeObject, member: string): Buffer | undefined {
  const text = isObject(data) ? data[member] : undefined
  return typeof text === 'string' ? Buffer.from(text, 'base64') : undefined
}

function encoded(data: Readonly<Record<string, Uint8Array>>): JsonObject {
  return Object.fromEntries(
    Object.entries(data).map(([member, bytes]) => [member, Buffer.from(bytes).toString('base64')]),
  )
}

/** Compresses the notes, because a Secret holds 1 MB at most. */
export function packedNotes(secret: LedgerSecret): Notes {
  return {
    async read() {
      const packed = await secret.read('sentState')
      if (packed === undefined) return undefined
      try {
        return gunzipSync(Buffer.from(packed, 'base64')).toString('utf8')
      } catch {
        return '' // the reader reports the damage
      }
    },
    write: (text) => secret.change({ sentState: gzipSync(text).toString('base64') }),
  }
}
