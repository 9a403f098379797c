/*
 * What is kept from every output by its name, told in this one place: whatever masks something asks here.
 */

/** Fields that take a reference and nothing else. */
export const SECRET_FIELDS: ReadonlySet<string> = new Set(['password', 'secretKey'])

/** Fields that may be written out, and are kept from every output all the same. */
export const SENSITIVE_FIELDS: ReadonlySet<string> = new Set([
  ...SECRET_FIELDS,
  'username',
  'accessKeyId',
  'connectionString',
  'caCertificate',
])

/** Names under which a secret may stand, in a manifest, a mounted secret or a request. */
export const SENSITIVE_NAMES: readonly string[] = [...SENSITIVE_FIELDS, 'keySecret', 'token', 'authorization']

/** What is sensitive wherever it stands in a name. No honest reply has such names; a platform may echo what it should not. */
const TELLING_PART =
  /pass(?:w|phrase)|pwd|secret|token|connection[-_]?string|(?:access|api|private)[-_]?key|user[-_]?name|certificate|credential|key[-_]?id$|jaas|bearer|authorization/i

/** Names that look sensitive and are not: ids of API keys. */
const HARMLESS: ReadonlySet<string> = new Set(['openapikeys'])

/** Whether a field's value is kept from every output, by its name. */
export function isSensitiveName(name: string): boolean {
  return SENSITIVE_FIELDS.has(name) || (TELLING_PART.test(name) && !HARMLESS.has(name.toLowerCase()))
}

/** What was sent in a JSON body under the names of sensitive fields; all of it when it is not JSON. */
export function sensitiveTexts(body: string): readonly string[] {
  const texts: string[] = []
  try {
    // The reviver sees every member; what it returns is not used.
    JSON.parse(body, (name, value: unknown) => {
      if (isSensitiveName(name) && typeof value === 'string') texts.push(value)
      return value
    })
    return texts
  } catch {
    // Not passed on: the error of a parser quotes the text.
    return [body]
  }
}
