import { randomBytes } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { LedgerError, type Notes } from '../../contract/ledger.ts'
import { ClusterError, asLedgerError } from './cluster-error.ts'
import type { ClusterApi, KubeObject } from './cluster-api.ts'
import { type Losses, noLosses, unpackedLosses } from './losses.ts'

/** What a ledger is besides its records: one Secret, made with it. */
export interface LedgerSecret {
  readonly hashKey: Uint8Array
  /** The platform and the profile that its records are of; undefined: none yet. */
  platform(): string | undefined
  profile(): string | undefined
  /** Whether a record was ever written. */
  hasRecords(): boolean
  /** Whether its records were put back to an earlier state. */
  setBack(): SetBackState
  /** As `Ledger.movedAt`. */
  movedAt(): string | undefined
  /** A member, as it is now. @throws {LedgerError} */
  read(member: keyof SecretMembers): Promise<string | undefined>
  /**
   * @param members of the Secret as it is just before it is written; undefined: nothing is written
   * @throws {LedgerError}
   */
  change(members: SecretMembers | (() => SecretMembers | undefined)): Promise<void>
}

/** Where it was noticed more often than a person has accepted it, nothing is created. */
export interface SetBackState {
  /** How often it was noticed. */
  readonly times: number
  /** How many of these a person has accepted. */
  readonly accepted: number
  /** What was lost the last time, in words. */
  readonly what: string
  /** The same, item by item, packed. */
  readonly lost: string | undefined
}

/** What was lost when its records were put back to an earlier state, in words; undefined: nothing, or a person has accepted it. */
export function openSetBack(secret: LedgerSecret): string | undefined {
  const { times, accepted, what } = secret.setBack()
  return times > accepted ? what : undefined
}

/** The same, item by item. */
export function lossesIn(secret: LedgerSecret): Losses {
  const what = openSetBack(secret)
  return what === undefined ? noLosses() : unpackedLosses(secret.setBack().lost, what)
}

/** Undefined: the member goes. */
export interface SecretMembers {
  readonly platform?: string | undefined
  readonly profile?: string | undefined
  readonly hasRecords?: string | undefined
  readonly sentState?: string | undefined
  /** What was lost when its records were put back to an earlier state, in words. */
  readonly setBack?: string | undefined
  /** The same, item by item, packed. */
  readonly lost?: string | undefined
  /** Numbers: how often that was noticed, and how many of these a person has accepted. */
  readonly setBacks?: string | undefined
  readonly accepted?: string | undefined
  readonly movedAt?: string | undefined
}

/** The form of what is kept: a program that knows an older one only keeps away. */
const FORMAT = 1

/** @returns undefined: there is none @throws {LedgerError} */
export async function readLedgerSecret(
  api: ClusterApi,
  collection: string,
  name: string,
): Promise<LedgerSecret | undefined> {
  try {
    return opened(api, collection, await api.get(`${collection}/${name}`))
  } catch (error) {
    if (error instanceof ClusterError && error.status === 404) return undefined
    throw asLedgerError(error)
  }
}

/**
 * Makes one; or gives the one that somebody else made at the same time.
 * @param given what is to be in it; a new key when absent
 * @throws {LedgerError}
 */
export async function createLedgerSecret(
  api: ClusterApi,
  collection: string,
  name: string,
  given?: SecretMembers & { readonly hashKey: Uint8Array },
): Promise<LedgerSecret> {
  const { hashKey = randomBytes(32) } = given ?? {}
  try {
    const object = await api.create(collection, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name },
      type: 'Opaque',
      data: encoded({ ...membersOf(given), hashKey, format: Buffer.from(String(FORMAT)) }),
    })
    return opened(api, collection, object)
  } catch (error) {
    const isThere = error instanceof ClusterError && error.status === 409 && given === undefined
    const secret = isThere ? await readLedgerSecret(api, collection, name) : undefined
    if (secret !== undefined) return secret
    throw asLedgerError(error)
  }
}

function membersOf(given: SecretMembers = {}): Record<string, Buffer> {
  const { platform, profile, hasRecords, setBack, lost, setBacks } = given
  const members: Record<string, Buffer> = {}
  for (const [member, text] of Object.entries({ platform, profile, hasRecords, setBack, lost, setBacks }))
    if (text !== undefined) members[member] = Buffer.from(text)
  return members
}

function opened(api: ClusterApi, collection: string, first: KubeObject): LedgerSecret {
  let object = first
  const { name } = first.metadata
  const textOf = (member: string) => bytesOf(object, member)?.toString('utf8')
  const hashKey = bytesOf(first, 'hashKey')
  const format = Number(textOf('format'))
  if (format > FORMAT)
    throw new LedgerError(
      'newer',
      `the ledger of the Secret ${name} is of a later version of Pipewright (format ${format}; this one knows ${FORMAT}): use that version.`,
    )
  if (hashKey?.length !== 32 || format !== FORMAT)
    throw new LedgerError(
      'corrupt',
      `the Secret ${name} is not one of a ledger, or was edited: its members hashKey and format are not what Pipewright wrote. Restore it from a backup.`,
    )
  return {
    hashKey: new Uint8Array(hashKey),
    platform: () => textOf('platform'),
    profile: () => textOf('profile'),
    hasRecords: () => textOf('hasRecords') === 'true',
    setBack() {
      const accepted = countOf(textOf('accepted')) ?? 0
      // One that somebody has edited is no sign that all is well.
      const times = textOf('setBacks') === undefined ? 0 : (countOf(textOf('setBacks')) ?? accepted + 1)
      return { times, accepted, what: textOf('setBack') ?? 'its Secret says so', lost: textOf('lost') }
    },
    movedAt: () => textOf('movedAt'),
    async read(member) {
      try {
        object = await api.get(`${collection}/${name}`)
      } catch (error) {
        if (error instanceof ClusterError && error.status === 404) throw secretGone(name, error)
        throw asLedgerError(error)
      }
      return textOf(member)
    },
    async change(asked) {
      for (let tries = 1; ; tries += 1) {
        const members = typeof asked === 'function' ? asked() : asked
        if (members === undefined) return
        const data: Record<string, Buffer> = {}
        for (const member of Object.keys(isObject(object['data']) ? object['data'] : {})) {
          const bytes = bytesOf(object, member)
          if (bytes !== undefined && !(member in members)) data[member] = bytes
        }
        for (const [member, text] of Object.entries(members) as [string, string | undefined][])
          if (text !== undefined) data[member] = Buffer.from(text)
        try {
          object = await api.replace(`${collection}/${name}`, { ...object, data: encoded(data) })
          return
        } catch (error) {
          if (!(error instanceof ClusterError) || error.status !== 409 || tries === 3)
            throw asLedgerError(error)
          object = await api.get(`${collection}/${name}`).catch((failed: unknown) => {
            throw asLedgerError(failed)
          })
        }
      }
    },
  }
}

function secretGone(name: string, cause: Error): LedgerError {
  return new LedgerError('missing', `the Secret ${name} of the ledger is gone: restore it from a backup.`, {
    cause,
  })
}

/** @returns undefined: it is no number */
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

/** Notes as members of the Secret, which holds a megabyte at most: packed, ten times as much. */
export function packedNotes(secret: LedgerSecret): Notes {
  return {
    async read(note) {
      const packed = await secret.read(note)
      if (packed === undefined) return undefined
      try {
        return gunzipSync(Buffer.from(packed, 'base64')).toString('utf8')
      } catch {
        return '' // whoever reads it says that it is damaged
      }
    },
    write: (note, text) => secret.change({ [note]: gzipSync(text).toString('base64') }),
  }
}
