/** Fields whose value must be a `secretRef`, never plain text. */
export const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'password',
  'secretKey',
  'privateKey',
  'serviceAccountKey',
  'serviceAccountFile',
])

/** A plain account name in these fields is not a secret. */
export const NAMING_FIELDS: ReadonlySet<string> = new Set(['username', 'accessKeyId'])

/** No output shows these fields, even if a manifest has them in plain text. */
export const SENSITIVE_FIELDS: ReadonlySet<string> = new Set([
  ...SECRET_FIELDS,
  ...NAMING_FIELDS,
  'connectionString',
  'caCertificate',
  'certificate',
  'uri',
])

export const SENSITIVE_NAMES: readonly string[] = [...SENSITIVE_FIELDS, 'keySecret', 'token', 'authorization']

const TELLING_PART =
  /pass(?:w|phrase)|pwd|secret|token|connection[-_]?string|(?:access|account|api|private)[-_]?key|user[-_]?name|certificate|credential|key[-_]?id$|jaas|bearer|authorization|signature/i

const HARMLESS: ReadonlySet<string> = new Set(['openapikeys'])

export function isSensitiveName(name: string): boolean {
  return SENSITIVE_FIELDS.has(name) || (TELLING_PART.test(name) && !HARMLESS.has(name.toLowerCase()))
}

export const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Words with at most a number at the end, such as "svc-orders-01": people choose these, generators do not. */
const NAME = /^(?:[a-z]{1,32}\d{0,4}|\d{1,4})(?:[-_.@/\\ ](?:[a-z]{1,32}\d{0,4}|\d{1,4})){0,7}$/i

export function readsLikeName(text: string): boolean {
  return text.length <= 64 && NAME.test(text)
}

/** User and password in a URL. A port before a path that contains "@" does not match. */
const USER_INFO = /(:\/\/)(?:[^/?#\s@:]*:[^/?#\s]*|[^/?#\s@:]{1,256}:(?!\d{1,5}(?:[/?#]|$))[^\s@]{1,256})@/g

const EQUALS = String.raw`\s{0,2}(?:=(?!=)|%(?:25)?3D)`

const VALUE = String.raw`\s{0,2}(?:\[[a-z]+\]|[^&;\s\\]+)`

/** Names such as `token`. The value after `token=` is masked anywhere in a text. */
const OPENING =
  String.raw`(?:(?:(?<![a-z])|(?<=%(?:25){0,3}[0-9a-f]{2}))sig|signature|hmac|token|secret|passw(?:or)?d|passphrase|pwd|credential|connection[-_]?string|` +
  String.raw`(?:access|account|api|encryption|master|private|secret|shared|signing|storage)[-_]?key(?:[-_]?id)?)`
const SIGNATURE = new RegExp(`(${OPENING}${EQUALS})${VALUE}`, 'gi')

const IN_URL = String.raw`(?:(?:key(?:[-_]?id)?|auth|jwt)|(?<=[?&;#])code|%[4-7][0-9a-f][^=&;?#\s]{0,64})`
const PARAMETER = new RegExp(
  String.raw`((?:[?&;#]|\\u0026|%(?:25)?(?:3F|26|3B|23))(?:[^=&;?#%\s]{0,64})${IN_URL}${EQUALS})${VALUE}`,
  'gi',
)

/** Credentials after `Basic` or `Bearer`, even if partly masked. A plain word there stays: it is part of a sentence. */
const AUTHORIZATION =
  /\b(Basic|Bearer)(\s+)(?:\[[a-z]+\][\w.~+/=-]*|(?=[\w.~+/-]*[\d=]|[\w.~+/-]{20})[\w.~+/=-]{8,})/gi

export function withoutUrlSecrets(text: string, mask: string): string {
  const [hasPair, hasUrl] = [text.includes('=') || text.includes('%'), text.includes('://')]
  const named = /basic|bearer/i.test(text) ? text.replaceAll(AUTHORIZATION, `$1$2${mask}`) : text
  const users = hasUrl ? named.replaceAll(USER_INFO, `$1${mask}@`) : named
  return hasPair ? users.replaceAll(SIGNATURE, `$1${mask}`).replaceAll(PARAMETER, `$1${mask}`) : users
}

/** `//user@`, and `user:password@` without a scheme. Only invalid manifests have these. */
const USER = /(\/\/)[^/?#\s]*@/g
const BARE_USER_INFO = /(^|[\s"'[{(,=])[^\s"'[{(,=/@:]{1,256}:[^\s/@]{1,256}@/g

/** Command arguments: the value after `--password`, and user and password after `-u`. */
const ARGUMENT =
  /((?:^|[\s"'[,])--[\w-]{0,40}(?:password|passwd|token|secret|key|credential)["']?[\s,]+["']?)(?!-)[^\s"',\]]+/gi
const USER_ARGUMENT = /((?:^|[\s"'[,])(?:-u|--user)["']?[\s,=]+["']?[^\s"':]{1,256}:)[^\s"']+/g

export function withoutSecrets(text: string, mask: string): string {
  const plain = withoutUrlSecrets(text, mask)
  const masked = plain.includes('--') ? plain.replaceAll(ARGUMENT, `$1${mask}`) : plain
  const told = masked.includes('-u') ? masked.replaceAll(USER_ARGUMENT, `$1${mask}`) : masked
  if (!told.includes('@')) return told
  return told.replaceAll(USER, `$1${mask}@`).replaceAll(BARE_USER_INFO, `$1${mask}@`)
}

/** Matches `"name": "value"`, `name=value` and `name: "value"`. The quotes can be escaped. */
const ASSIGNMENT =
  /(\\{0,3}["']?)(?<![\w.$-])([a-z_$][\w.$-]{0,80})\1(\s{0,4}[:=]\s{0,4})(\\{1,3}"(?:[^"\\]|\\(?!\\{0,2}"))*(?:\\{1,3}"?)?|"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;}&"'\\]+)/gi

/**
 * Masks values of sensitive names in JSON, YAML or `name=value`. Keeps unquoted text after a colon: it is a sentence.
 * @param names `shown` keeps plain account names, because a platform's message needs them
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
