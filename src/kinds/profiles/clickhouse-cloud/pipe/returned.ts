import { isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { TO_WRITE } from '../../../imported.ts'

/**
 * A reply's set values (facts 7). Unset values are null, empty, false, 0 (sizes) or absent. Adds set values
 * that replies omit but that follow from others.
 */
export function setIn(reply: JsonObject): JsonObject {
  const { scaling, destination, source, ...rest } = setFields(reply)
  return {
    ...rest,
    ...(isObject(source) && { source: withUnshown(source) }),
    ...(isObject(destination) && { destination: withManagedTable(destination) }),
    ...(isObject(scaling) && { scaling: withoutZeros(scaling) }),
  }
}

function setFields(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) => {
      const kept = value === undefined ? undefined : setValue(value)
      return kept === undefined ? [] : [[name, kept]]
    }),
  )
}

function setValue(value: Json): Json | undefined {
  if (value === null || value === '' || value === false) return undefined
  if (Array.isArray(value))
    return value.length === 0
      ? undefined
      : value.map((item: Json) => (isObject(item) ? setFields(item) : item))
  if (!isObject(value)) return value
  const rest = setFields(value)
  return Object.keys(rest).length === 0 ? undefined : rest
}

/** With a table, replies omit false. */
function withManagedTable(destination: JsonObject): JsonObject {
  return 'table' in destination ? { managedTable: false, ...destination } : destination
}

function withoutZeros(scaling: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(scaling).filter(([, value]) => value !== 0))
}

function withUnshown({ objectStorage, kafka, kinesis, ...others }: JsonObject): JsonObject {
  return {
    ...others,
    ...(isObject(objectStorage) && { objectStorage: withSignIn(objectStorage) }),
    ...(isObject(kafka) && { kafka: withSchema(kafka) }),
    ...(isObject(kinesis) && { kinesis: withSchema(kinesis) }),
  }
}

/** Without a registry, Protobuf needs a schema, which is never returned (N12). */
function withSchema(source: JsonObject): JsonObject {
  const hasOwn = source['format'] === 'Protobuf' && source['schemaRegistry'] === undefined
  return hasOwn ? { ...source, protobufSchema: TO_WRITE } : source
}

/** Replies can omit the authentication and Azure's path. */
function withSignIn(storage: JsonObject): JsonObject {
  if (storage['type'] === 'azureblobstorage')
    return {
      authentication: 'CONNECTION_STRING',
      azureContainerName: TO_WRITE,
      path: TO_WRITE,
      ...storage,
    }
  if ('iamRole' in storage) return { authentication: 'IAM_ROLE', ...storage }
  // A queue needs keys or a role, and only a role is returned (R16).
  const isKeyed = storage['type'] === 's3' && 'queueUrl' in storage
  return isKeyed ? { authentication: 'IAM_USER', ...storage } : storage
}
