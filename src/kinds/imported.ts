import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import { gibibytesIn, millicoresIn, numberIn, withoutArguments } from './canonical.ts'
import type { CreateOnceKind } from './definition.ts'
import {
  type Field,
  type Fields,
  type Form,
  isRecords,
  isRequestOnly,
  isWhenReturned,
  type LeafForm,
  plainForm,
  type RequestOnly,
} from './field-table.ts'
import { instantOf } from './instant.ts'
import { type Fitted, fitted, isOnlyReferences, type LeftOut } from './left-out.ts'
import { API_VERSION } from './manifest.ts'
import { isSensitiveName, SENSITIVE_FIELDS } from '../lib/sensitive.ts'
import type { SecretMask } from '../lib/mask/secret-mask.ts'
import { printable } from '../lib/shown-text.ts'
import { maskText } from './mask.ts'
import { ABOUT, type RemoteResource } from './remote-resource.ts'
import { inputName } from './type-words.ts'

/** Stands for what is no secret, and what the platform does not say. */
export const TO_WRITE = 'TO-BE-WRITTEN'

/** The fields of a manifest where that stands, from its root. */
export function placesToWrite(value: Json | undefined, path = ''): readonly string[] {
  if (value === TO_WRITE) return [path]
  if (value === undefined || !isObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    placesToWrite(inner, path === '' ? name : `${path}.${name}`),
  )
}

/** What exists, and the names that its manifest is to have. */
export interface ImportRequest {
  readonly kind: CreateOnceKind
  /** `metadata.name`. */
  readonly name: string
  /** `metadata.name` of its Service. */
  readonly service: string
  /** Name of the mounted secret that the references name. */
  readonly secret: string
  readonly resource: RemoteResource
  /** Masks whatever secret the reply repeats. */
  readonly mask: Pick<SecretMask, 'mask'>
}

/**
 * A manifest that takes over what exists: what the platform returns, in the manifest's order and forms. No sensitive
 * value is in it: where one belongs, or may belong, stands a reference that a person has to look at. What a manifest
 * cannot have is left out, so that the kind accepts it. There is none when the last that is left out must be there.
 */
export function importedManifest({ kind, name, service, secret, resource, mask }: ImportRequest): Fitted {
  const came = resource as JsonObject // it came as JSON
  const reply = kind.setIn?.(came) ?? came
  const leftOut: LeftOut[] = []
  const known = { ...kind.fields, ...ABOUT }
  const isRuled = kind.credentialRules === true
  const place = { path: 'spec', secret, keys: [], known, leftOut, mask, isRuled }
  const result = fitted(kind, {
    apiVersion: API_VERSION,
    kind: kind.name,
    metadata: { name },
    policy: { adopt: resource.id },
    spec: { service, ...objectOf(kind.fields, reply, place) },
  })
  const all = [...leftOut, ...result.leftOut].map((one) => ({ ...one, path: mask.mask(one.path) }))
  return { ...result, leftOut: once(all) }
}

/** What is said of each item of a list is said once. */
function once(all: readonly LeftOut[]): readonly LeftOut[] {
  return [...new Map(all.map((one) => [`${one.path} ${one.why}`, one])).values()]
}

interface Place {
  /** From the root of the manifest, for people. */
  readonly path: string
  /** Name of the mounted secret. */
  readonly secret: string
  /** Names of the objects in the body, around this one; those of lists are none. */
  readonly keys: readonly string[]
  /** Fields of which nothing has to be said. */
  readonly known: Readonly<Record<string, unknown>>
  readonly leftOut: LeftOut[]
  readonly mask: Pick<SecretMask, 'mask'>
  /** Whether the rules of the kind say which credentials have to go. */
  readonly isRuled: boolean
}

/** The fields of the table; what else the reply has is named. */
function objectOf(fields: Fields, reply: JsonObject, place: Place): JsonObject {
  const { path, known, leftOut } = place
  for (const name of Object.keys(reply))
    if (!Object.hasOwn(known, name))
      leftOut.push({ path: `${path}.${name}`, why: 'A manifest has no such field.' })
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = Object.hasOwn(reply, name) ? reply[name] : undefined
      const at = { name, beside: reply, place: { ...place, path: `${path}.${name}` } }
      const kept = isRequestOnly(field)
        ? referencesOf(field, value, at)
        : isHidden(field, at)
          ? referenceTo(at.place, name)
          : valueOf(plainForm(field), value, at)
      return kept === undefined ? [] : [[name, kept]]
    }),
  )
}

/** Where a value stands in a reply. */
interface At {
  readonly name: string
  /** The object in which it stands. */
  readonly beside: JsonObject
  readonly place: Place
}

/** Of what is only ever sent, what is secret is in use most likely; nothing is known of the rest. */
function referencesOf(
  { requestOnly: form }: RequestOnly,
  value: Json | undefined,
  { name, beside, place }: At,
): Json | undefined {
  if (typeof form === 'string' && SENSITIVE_FIELDS.has(name)) return referenceTo(place, name)
  const secrets =
    typeof form === 'string' ? [] : Object.keys(form.fields).filter((inner) => SENSITIVE_FIELDS.has(inner))
  if (secrets.length === 0)
    return value === undefined || value === null
      ? undefined
      : leaveOut(place, 'It is only ever sent: what is returned may not be what is in force.')
  if (!place.isRuled && isWithoutSecret(beside)) return undefined
  return Object.fromEntries(secrets.map((secret) => [secret, referenceTo(place, secret)]))
}

/** A secret that comes back at times, and did not: it may be in use all the same. */
function isHidden(field: Field, { name, beside }: At): boolean {
  return isWhenReturned(field) && SENSITIVE_FIELDS.has(name) && !Object.hasOwn(beside, name)
}

/** A role, or a connection string that is returned, takes the place of a key. */
function isWithoutSecret(beside: JsonObject): boolean {
  return ['iamRole', 'connectionString'].some(
    (name) => typeof beside[name] === 'string' && beside[name] !== '',
  )
}

function valueOf(form: Form, value: Json | undefined, at: At): Json | undefined {
  const { name, place } = at
  if (value === undefined) return undefined
  if (value === null) return leaveOut(place, 'It is null.')
  if (typeof form === 'string')
    return isSensitiveName(name) ? sensitiveOf(value, at) : leafOf(form, value, place)
  const inside = { ...place, known: form.fields }
  if (isRecords(form)) {
    if (!Array.isArray(value)) return leaveOut(place, `It must be a list, and is ${inputName(value)}.`)
    const items = { ...inside, path: `${place.path}[]` }
    // What is no object is left to the schema, which says where it is.
    return value.map((item: Json) => (isObject(item) ? objectOf(form.fields, item, items) : item))
  }
  if (!isObject(value)) return leaveOut(place, `It must be a mapping, and is ${inputName(value)}.`)
  if (Object.keys(value).length === 0) return undefined // it says nothing, so that nothing is lost
  if (isEmpty(value)) return leaveOut(place, 'It is empty.')
  const made = objectOf(form.fields, value, { ...inside, keys: [...place.keys, name] })
  // Where nothing else is known, there is nothing to sign in to.
  return Object.keys(made).length === 0 || isOnlyReferences(made) ? undefined : made
}

function leaveOut({ path, leftOut }: Place, why: string): undefined {
  leftOut.push({ path, why })
  return undefined
}

function isEmpty(value: Json | undefined): boolean {
  if (value === null || value === undefined) return true
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) && Object.values(value).every(isEmpty)
}

function sensitiveOf(value: Json, { name, place }: At): Json | undefined {
  if (typeof value !== 'string') return leaveOut(place, `It must be text, and is ${inputName(value)}.`)
  return value === '' ? leaveOut(place, 'It is empty.') : referenceTo(place, name)
}

function leafOf(form: LeafForm, value: Json, place: Place): Json | undefined {
  const written = asManifestHasIt(form, value)
  const texts = (Array.isArray(written) ? written : [written]).filter(
    (item: Json) => typeof item === 'string',
  )
  if (texts.some((text) => maskText(text) !== text))
    return leaveOut(place, 'It holds a password or a signature, which no manifest may hold.')
  if (texts.some((text) => printable(text) !== text))
    return leaveOut(place, 'It holds control characters, or some that turn a text around.')
  if (texts.some((text) => place.mask.mask(text) !== text))
    return leaveOut(place, 'It repeats a secret that Pipewright sends.')
  return written
}

/** The same in the one form of a manifest; a platform may have others for it. */
function asManifestHasIt(form: LeafForm, value: Json): Json {
  switch (form) {
    case 'number':
    case 'offset':
      return numberIn(value) ?? value
    case 'millicores':
      return millicoresIn(value) ?? value
    case 'gibibytes':
      return gibibytesIn(value) ?? value
    case 'engine':
      return typeof value === 'string' ? withoutArguments(value) : value
    case 'unix-time':
      return numberIn(value) ?? timeAs(value, (instant) => instant.getTime() / 1_000)
    case 'time':
      return timeAs(value, (instant) => withoutFraction(instant).slice(0, -1))
    case 'minute':
      return timeAs(value, (instant) => instant.toISOString().slice(0, 16))
    case 'zoned':
      return timeAs(value, withoutFraction)
    case 'comma-list':
      return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.join(',') : value
    case 'text':
    case 'certificate':
    case 'boolean':
    case 'flag':
    case 'set':
    case 'ordered':
      return value
  }
}

/** A time in another way; what is none stays as it came. */
function timeAs(value: Json, inWords: (instant: Date) => Json): Json {
  const instant = typeof value === 'string' ? instantOf(value) : undefined
  return instant === undefined ? value : inWords(new Date(instant))
}

function withoutFraction(instant: Date): string {
  return instant.toISOString().replace(/(?:\.000)?Z$/, 'Z')
}

/** Two of one pipe never share a key: its registry has another user than its brokers. */
function referenceTo({ secret, keys }: Place, field: string): JsonObject {
  const [, , ...inner] = keys // every sensitive value of a pipe stands below `source.KIND`
  return { secretRef: { name: secret, key: [...inner, field].join('.') } }
}
