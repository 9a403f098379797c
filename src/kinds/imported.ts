import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import type { CreateOnceKind } from './definition.ts'
import type { Fields, Form, RequestOnly } from './field-table.ts'
import { API_VERSION } from './manifest.ts'
import { isSensitiveName, SENSITIVE_FIELDS } from './mask.ts'
import { type RemoteResource, returnedBody } from './remote-resource.ts'

/** What exists, and the names that its manifest is to have. */
export interface ImportRequest {
  readonly kind: CreateOnceKind
  /** `metadata.name`; also the name of the secret that the references name. */
  readonly name: string
  /** `metadata.name` of its Service. */
  readonly service: string
  readonly resource: RemoteResource
}

/**
 * A manifest that takes over what exists: what the platform returns, in the manifest's order, and as it came. No sensitive
 * value is in it: where one belongs, or may belong, stands a reference that a person has to look at.
 */
export function importedManifest({ kind, name, service, resource }: ImportRequest): JsonObject {
  const reply = resource as JsonObject // it came as JSON
  const body = withReferences(kind.fields, returnedBody(kind.fields, reply), { name, path: [] })
  return {
    apiVersion: API_VERSION,
    kind: kind.name,
    metadata: { name },
    policy: { adopt: resource.id },
    spec: { service, ...body },
  }
}

/** Where the sensitive values of an object are to be mounted. */
interface Secret {
  readonly name: string
  /** Of the object, in the body. */
  readonly path: readonly string[]
}

/** The fields of the table, and nothing else. */
function withReferences(fields: Fields, body: JsonObject, secret: Secret): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = importedValue(name, field, { value: body[name], beside: body, secret })
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

interface Place {
  readonly value: Json | undefined
  /** The object in which it stands. */
  readonly beside: JsonObject
  readonly secret: Secret
}

function importedValue(name: string, field: Form | RequestOnly, place: Place): Json | undefined {
  const { value, beside, secret } = place
  if (typeof field === 'object' && 'requestOnly' in field) {
    const { requestOnly: form } = field
    if (typeof form === 'string' || isWithoutSecret(beside)) return undefined
    const names = Object.keys(form.fields).filter((inner) => SENSITIVE_FIELDS.has(inner))
    return names.length === 0
      ? undefined
      : Object.fromEntries(names.map((inner) => [inner, referenceTo(secret, inner)]))
  }
  if (value === undefined || value === null) return undefined
  if (isSensitiveName(name) && typeof value === 'string') return referenceTo(secret, name)
  if (!isObject(value) || typeof field !== 'object') return value
  return withReferences(field.fields, value, { ...secret, path: [...secret.path, name] })
}

/** A role, or a connection string that is returned, takes the place of a key. */
function isWithoutSecret(beside: JsonObject): boolean {
  return typeof beside['iamRole'] === 'string' || typeof beside['connectionString'] === 'string'
}

/** Two of one pipe never share a key: its registry has another user than its brokers. */
function referenceTo({ name, path }: Secret, field: string): JsonObject {
  const [, , ...inner] = path // every sensitive value of a pipe stands below `source.KIND`
  return { secretRef: { name, key: [...inner, field].join('.') } }
}
