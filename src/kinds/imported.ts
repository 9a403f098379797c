import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import type { CreateOnceKind } from './definition.ts'
import type { Field, Fields } from './field-table.ts'
import { asWritten, type LeafForm } from './leaf-forms.ts'
import { fitted, inputName, isOnlyReferences, type Fitted, type LeftOut } from './left-out.ts'
import { API_VERSION } from './manifest.ts'
import { isSensitiveName } from '../lib/sensitive.ts'
import type { SecretMask } from '../lib/mask/secret-mask.ts'
import { escapeControls } from '../lib/shown-text.ts'
import { faultOf } from './odd-text.ts'
import { maskText } from './mask.ts'
import { foreignFields, type RemoteResource } from './remote-resource.ts'

/** Placeholder for a value that the platform does not return, and that a person must fill in. */
export const TO_WRITE = 'TO-BE-WRITTEN'

export function placesToWrite(value: Json | undefined, path = ''): readonly string[] {
  if (value === TO_WRITE) return [path]
  if (value === undefined || !isObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    placesToWrite(inner, path === '' ? name : `${path}.${name}`),
  )
}

/**
 * Makes a manifest that adopts a resource, from the returned fields. Sensitive values become references to
 * secrets that a person must mount. Refused fields are left out.
 */
export function importedManifest(request: {
  readonly kind: CreateOnceKind
  readonly name: string
  readonly service: string
  readonly secret: string
  readonly resource: RemoteResource
  readonly mask: Pick<SecretMask, 'mask'>
}): Fitted {
  const { kind, name, service, secret, resource, mask } = request
  const came = resource as JsonObject // parsed from JSON
  const reply = kind.setIn?.(came) ?? came
  const leftOut = foreignFields(kind, came).map(([path]): LeftOut => ({
    path: `spec.${path}`,
    why: 'A manifest has no such field.',
    isUnknown: true,
  }))
  const isRuled = kind.credentialRules === true
  const place = { path: 'spec', secret, keys: [], leftOut, mask, isRuled }
  const result = fitted(kind, {
    apiVersion: API_VERSION,
    kind: kind.name,
    metadata: { name },
    policy: { adopt: resource.id },
    spec: { service, ...objectOf(kind.fields, reply, place) },
  })
  const all = [...leftOut, ...result.leftOut].map((one) => ({ ...one, path: onOneLine(mask.mask(one.path)) }))
  return { ...result, leftOut: [...new Map(all.map((one) => [JSON.stringify(one), one])).values()] }
}

interface Place {
  readonly path: string
  readonly secret: string
  readonly keys: readonly string[]
  readonly leftOut: LeftOut[]
  readonly mask: Pick<SecretMask, 'mask'>
  readonly isRuled: boolean
}

const MAX_PATH_LENGTH = 200

function onOneLine(path: string): string {
  const short = path.length > MAX_PATH_LENGTH ? `${path.slice(0, MAX_PATH_LENGTH - 1)}…` : path
  return escapeControls(short.toWellFormed())
}

function objectOf(fields: Fields, reply: JsonObject, place: Place): JsonObject {
  const { path } = place
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = Object.hasOwn(reply, name) ? reply[name] : undefined
      const at = { name, beside: reply, place: { ...place, path: `${path}.${name}` } }
      const kept =
        field.returned === 'never'
          ? referencesOf(field, value, at)
          : isHidden(field, at)
            ? referenceTo(at.place, name)
            : valueOf(field, value, at)
      return kept === undefined ? [] : [[name, kept]]
    }),
  )
}

interface At {
  readonly name: string
  readonly beside: JsonObject
  readonly place: Place
}

/** For a field that replies never show. Its secrets become references, because the pipe probably uses them. */
function referencesOf(
  { fields, isSensitive }: Field,
  value: Json | undefined,
  { name, beside, place }: At,
): Json | undefined {
  if (value === TO_WRITE) return value
  if (isSensitive) return referenceTo(place, name)
  const secrets = Object.keys(fields).filter((inner) => fields[inner]?.isSensitive)
  if (secrets.length === 0)
    return value === undefined || value === null
      ? undefined
      : leaveOut(place, 'Write-only: the value in use might differ from the returned value.')
  if (!place.isRuled && isWithoutSecret(beside)) return undefined
  return Object.fromEntries(secrets.map((secret) => [secret, referenceTo(place, secret)]))
}

/** Whether this reply omits a secret that some replies show. The pipe might still use the secret. */
function isHidden({ returned, isSensitive }: Field, { name, beside }: At): boolean {
  return returned === 'at times' && isSensitive && !Object.hasOwn(beside, name)
}

function isWithoutSecret(beside: JsonObject): boolean {
  return ['iamRole', 'connectionString'].some(
    (name) => typeof beside[name] === 'string' && beside[name] !== '',
  )
}

function valueOf({ form, fields, keyedBy }: Field, value: Json | undefined, at: At): Json | undefined {
  const { name, place } = at
  if (value === undefined) return undefined
  if (value === null) return leaveOut(place, 'It is null.')
  if (form !== undefined) return isSensitiveName(name) ? sensitiveOf(value, at) : leafOf(form, value, place)
  if (keyedBy !== undefined) {
    if (!Array.isArray(value)) return leaveOut(place, `It must be a list, and is ${inputName(value)}.`)
    const items = { ...place, path: `${place.path}[]` }
    // Items that are no objects stay, because the schema then reports them.
    return value.map((item: Json) => (isObject(item) ? objectOf(fields, item, items) : item))
  }
  if (!isObject(value)) return leaveOut(place, `It must be a mapping, and is ${inputName(value)}.`)
  if (Object.keys(value).length === 0) return undefined // an empty object has no information
  if (isEmpty(value)) return leaveOut(place, 'It is empty.')
  const made = objectOf(fields, value, { ...place, keys: [...place.keys, name] })
  // An object with nothing but references to secrets is dropped, because the source probably uses no login.
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
  const written = asWritten(form, value)
  const texts = (Array.isArray(written) ? written : [written]).filter(
    (item: Json) => typeof item === 'string',
  )
  if (texts.some((text) => maskText(text) !== text))
    return leaveOut(place, 'The value contains a password or a signature, which must not be in a manifest.')
  if (texts.some((text) => faultOf(form, place.path.split('.'), text) !== undefined))
    return leaveOut(
      place,
      'The value has a blank at its start or end, an invisible character, or the form of a placeholder.',
    )
  if (texts.some((text) => place.mask.mask(text) !== text))
    return leaveOut(
      place,
      'The value contains a secret that Pipewright uses, which must not be in a manifest.',
    )
  return written
}

/** Each login of a pipe gets its own key, because registry and brokers have different users. */
function referenceTo({ secret, keys }: Place, field: string): JsonObject {
  const [, , ...inner] = keys // sensitive values are below `source.KIND`
  return { secretRef: { name: secret, key: [...inner, field].join('.') } }
}
/** Maximum characters of a name. The number of a duplicate does not count. */
const LONGEST = 56

const DIGITS = 8

interface Named {
  readonly id: string
  readonly name: string
}

/** A `metadata.name` for each pipe, from its own name. Duplicates get a number. @param taken names in use */
export function manifestNames(pipes: readonly Named[], taken: ReadonlySet<string>): readonly string[] {
  const wanted = pipes.map(wantedName)
  const given = new Set(taken)
  const numbers = new Map<string, number>()
  const isWanted = new Set(wanted)
  return wanted.map((name) => {
    let free = name
    let number = numbers.get(name) ?? 1
    while (given.has(free) || (free !== name && isWanted.has(free))) {
      number += 1
      free = `${name}-${number}`
    }
    numbers.set(name, number)
    given.add(free)
    return free
  })
}

function wantedName({ id, name }: Named): string {
  const plain = trimmed(
    name
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .toLowerCase()
      .replaceAll(/[^a-z0-9.]+/g, '-'),
  )
  return plain === '' ? `pipe-${id.slice(0, DIGITS).toLowerCase()}` : trimmed(plain.slice(0, LONGEST))
}

function trimmed(text: string): string {
  return text.replace(/^[-.]+/, '').replace(/[-.]+$/, '')
}
