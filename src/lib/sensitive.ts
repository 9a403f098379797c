/*
 * What is kept from every output, by its name and by its shape. Whatever masks something asks here: bodies, findings and
 * their pictures, excerpts of replies, logs.
 */

/** Fields that take a reference and nothing else. */
export const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'password',
  'secretKey',
  'privateKey',
  'serviceAccountKey',
  'serviceAccountFile',
])

/** Fields that say who somebody is. A plain name in one of them is no secret by itself. */
export const NAMING_FIELDS: ReadonlySet<string> = new Set(['username', 'accessKeyId'])

/** Fields that may be written out, and are kept from every output all the same. */
export const SENSITIVE_FIELDS: ReadonlySet<string> = new Set([
  ...SECRET_FIELDS,
  ...NAMING_FIELDS,
  'connectionString',
  'caCertificate',
  'certificate',
  'uri',
])

/** Names under which a secret may stand, in a manifest, a mounted secret or a request. */
export const SENSITIVE_NAMES: readonly string[] = [...SENSITIVE_FIELDS, 'keySecret', 'token', 'authorization']

/** What is sensitive wherever it stands in a name. No honest reply has such names; a platform may echo what it should not. */
const TELLING_PART =
  /pass(?:w|phrase)|pwd|secret|token|connection[-_]?string|(?:access|account|api|private)[-_]?key|user[-_]?name|certificate|credential|key[-_]?id$|jaas|bearer|authorization|signature/i

/** Names that look sensitive and are not: ids of API keys. */
const HARMLESS: ReadonlySet<string> = new Set(['openapikeys'])

/** Whether a field's value is kept from every output, by its name. */
export function isSensitiveName(name: string): boolean {
  return SENSITIVE_FIELDS.has(name) || (TELLING_PART.test(name) && !HARMLESS.has(name.toLowerCase()))
}

/** Words of letters, with a number at the end at most: a text that people choose, and not a generated one. */
const NAME = /^(?:[a-z]{1,32}\d{0,4}|\d{1,4})(?:[-_.@/\\ ](?:[a-z]{1,32}\d{0,4}|\d{1,4})){0,7}$/i

/** Whether a text reads like a name, such as "admin" or "svc-orders-01". */
export function readsLikeName(text: string): boolean {
  return text.length <= 64 && NAME.test(text)
}

/** User and password of a URL. What is only a port before a path with an "@" is none. */
const USER_INFO = /(:\/\/)(?:[^/?#\s@:]*:[^/?#\s]*|[^/?#\s@:]{1,256}:(?!\d{1,5}(?:[/?#]|$))[^\s@]{1,256})@/g

/** How "=" is written in a text and inside a parameter of a URL. */
const EQUALS = String.raw`\s{0,2}(?:=(?!=)|%(?:25)?3D)`

/** Up to the next parameter of a URL or the next entry of a connection string. */
const VALUE = String.raw`\s{0,2}(?:\[[a-z]+\]|[^&;\s\\]+)`

/** Names that sign or open something, wherever they stand before an equals sign. */
const OPENING =
  String.raw`(?:(?:(?<![a-z])|(?<=%(?:25){0,3}[0-9a-f]{2}))sig|signature|hmac|token|secret|passw(?:or)?d|passphrase|pwd|credential|connection[-_]?string|` +
  String.raw`(?:access|account|api|encryption|master|private|secret|shared|signing|storage)[-_]?key(?:[-_]?id)?)`
const SIGNATURE = new RegExp(`(${OPENING}${EQUALS})${VALUE}`, 'gi')

/** Names that do so in a URL only, and names that somebody took care to disguise. */
const IN_URL = String.raw`(?:(?:key(?:[-_]?id)?|auth|jwt)|(?<=[?&;#])code|%[4-7][0-9a-f][^=&;?#\s]{0,64})`
const PARAMETER = new RegExp(
  String.raw`((?:[?&;#]|\\u0026|%(?:25)?(?:3F|26|3B|23))(?:[^=&;?#%\s]{0,64})${IN_URL}${EQUALS})${VALUE}`,
  'gi',
)

/** `Basic …` and `Bearer …`, as in an `Authorization` header, also where half of it is masked. The word behind them in a sentence is none. */
const AUTHORIZATION =
  /\b(Basic|Bearer)(\s+)(?:\[[a-z]+\][\w.~+/=-]*|(?=[\w.~+/-]*[\d=]|[\w.~+/-]{20})[\w.~+/=-]{8,})/gi

/** A text without the password or signature that a URL, a connection string or a header in it carries. @param mask takes the place */
export function withoutUrlSecrets(text: string, mask: string): string {
  const [hasPair, hasUrl] = [text.includes('=') || text.includes('%'), text.includes('://')]
  const named = /basic|bearer/i.test(text) ? text.replaceAll(AUTHORIZATION, `$1$2${mask}`) : text
  const users = hasUrl ? named.replaceAll(USER_INFO, `$1${mask}@`) : named
  return hasPair ? users.replaceAll(SIGNATURE, `$1${mask}`).replaceAll(PARAMETER, `$1${mask}`) : users
}

/** A user alone, and user and password without a scheme before them: only wrong manifests have these. */
const USER = /(\/\/)[^/?#\s]*@/g
const BARE_USER_INFO = /(^|[\s"'[{(,=])[^\s"'[{(,=/@:]{1,256}:[^\s/@]{1,256}@/g

/** Arguments of a command: the one behind `--password`, and user and password behind `-u`. */
const ARGUMENT =
  /((?:^|[\s"'[,])--[\w-]{0,40}(?:password|passwd|token|secret|key|credential)["']?[\s,]+["']?)(?!-)[^\s"',\]]+/gi
const USER_ARGUMENT = /((?:^|[\s"'[,])(?:-u|--user)["']?[\s,=]+["']?[^\s"':]{1,256}:)[^\s"']+/g

/** The same of a text that may be wrong, such as a line of a manifest and what a finding repeats of it. */
export function withoutSecrets(text: string, mask: string): string {
  const plain = withoutUrlSecrets(text, mask)
  const masked = plain.includes('--') ? plain.replaceAll(ARGUMENT, `$1${mask}`) : plain
  const told = masked.includes('-u') ? masked.replaceAll(USER_ARGUMENT, `$1${mask}`) : masked
  if (!told.includes('@')) return told
  return told.replaceAll(USER, `$1${mask}@`).replaceAll(BARE_USER_INFO, `$1${mask}@`)
}

/** `"name": "value"`, `name=value` and `name: "value"`, with quotes that may be escaped. */
const ASSIGNMENT =
  /(\\{0,3}["']?)(?<![\w.$-])([a-z_$][\w.$-]{0,80})\1(\s{0,4}[:=]\s{0,4})(\\{1,3}"(?:[^"\\]|\\(?!\\{0,2}"))*(?:\\{1,3}"?)?|"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;}&"'\\]+)/gi

/**
 * A text of JSON, YAML or `name=value` without what stands under sensitive names. What follows a name and a colon without any
 * quotes is a sentence: it stays.
 * @param names whether a plain name of somebody is shown where it is said whose it is: a platform has to be understood
 */
export function withoutAssignments(text: string, mask: string, names: 'shown' | 'masked'): string {
  if (!/[:=]/.test(text)) return text
  return text.replaceAll(ASSIGNMENT, (all, quote: string, name: string, sign: string, value: string) => {
    const isSentence = quote === '' && sign.includes(':') && !/^\\{0,3}["']/.test(value)
    const isNamed = isSensitiveName(name) && !isSentence
    const isShown =
      names === 'shown' && NAMING_FIELDS.has(name) && readsLikeName(value.replaceAll(/[\\"']/g, ''))
    return isNamed && !isShown && value !== mask ? `${quote}${name}${quote}${sign}${mask}` : all
  })
}
