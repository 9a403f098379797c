import { isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { TO_WRITE } from '../../../imported.ts'

/**
 * Of a reply what is set (facts 7): what is not comes as null, as empty, as false, or not at all; of a size, as 0, too. What is left out
 * although it is set, and follows from the rest, is added.
 */
export function setIn(reply: JsonObject): JsonObject {
  const { scaling, destination, source, ...rest } = setFields(reply)
  return {
    ...rest,
    ...(isObject(source) && { source: withStorage(source) }),
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

/** Where there is a table, a manifest says who makes it; false comes as nothing. */
function withManagedTable(destination: JsonObject): JsonObject {
  return 'table' in destination ? { managedTable: false, ...destination } : destination
}

function withoutZeros(scaling: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(scaling).filter(([, value]) => value !== 0))
}

function withStorage(source: JsonObject): JsonObject {
  const { objectStorage: storage } = source
  return isObject(storage) ? { ...source, objectStorage: withSignIn(storage) } : source
}

/** How it signs in may be left out, and of Azure where the files are, too. */
function withSignIn(storage: JsonObject): JsonObject {
  if (storage['type'] === 'azureblobstorage')
    return {
      authentication: 'CONNECTION_STRING',
      azureContainerName: TO_WRITE,
      path: TO_WRITE,
      ...storage,
    }
  if ('iamRole' in storage) return { authentication: 'IAM_ROLE', ...storage }
  // R16: a queue needs one, and only a role comes back
  const isKeyed = storage['type'] === 's3' && 'queueUrl' in storage
  return isKeyed ? { authentication: 'IAM_USER', ...storage } : storage
}
