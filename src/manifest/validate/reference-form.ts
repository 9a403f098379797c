import { SENSITIVE_NAMES } from '../../lib/sensitive.ts'
import { isObject } from '../../lib/json.ts'
import { looksLikeToken } from '../diagnostics/mask-lines.ts'

/* References to secrets in a form that is none: what the right form is, with the name and the key that the author wrote. */

interface Reference {
  readonly name: string
  readonly key: string
}

/** Names of mounted secrets as people choose them, and names of their keys. What is longer, or full of digits, may be a secret itself. */
const NAME = /^[a-z0-9][a-z0-9.-]{0,39}$/
const KEY = /^[A-Za-z][\w.-]{0,39}$/

/** As the keys of mounted secrets are called when they are named after the field that they are for. */
const KEYS_OF_SECRETS: ReadonlySet<string> = new Set([...SENSITIVE_NAMES, 'keyId'])

/** Names that other tools give to the two. */
const NAMES = ['name', 'secretName', 'secret']
const KEYS = ['key', 'secretKey', 'property']

/** Fields that hold such a reference elsewhere: in Kubernetes, and in ours. */
const AROUND = ['secretRef', 'secretKeyRef', 'valueFrom']

/**
 * The reference that a text or a mapping was meant to be. A text counts only when its key is exactly the name of such a field, as in
 * `kafka/password`. Others may be secrets with a slash in them, and are never repeated.
 */
export function referenceIn(value: unknown): Reference | undefined {
  if (typeof value === 'string') {
    const [name = '', key = '', ...more] = value.length > 90 ? [] : value.split(/[/:#]/)
    return more.length === 0 && KEYS_OF_SECRETS.has(key) ? asReference(name, key) : undefined
  }
  if (!isObject(value)) return undefined
  for (const field of AROUND) {
    const inner = Object.hasOwn(value, field) ? value[field] : undefined
    if (inner !== undefined && field !== 'valueFrom') return referenceIn(inner)
    if (isObject(inner)) return referenceIn({ secretKeyRef: inner['secretKeyRef'] ?? null })
  }
  return asReference(firstOf(value, NAMES), firstOf(value, KEYS))
}

function firstOf(value: Readonly<Record<string, unknown>>, fields: readonly string[]): unknown {
  return fields.map((field) => (Object.hasOwn(value, field) ? value[field] : undefined)).find(Boolean)
}

function asReference(name: unknown, key: unknown): Reference | undefined {
  if (typeof name !== 'string' || typeof key !== 'string') return undefined
  const isPlain = NAME.test(name) && KEY.test(key) && (name + key).replaceAll(/\D/g, '').length <= 6
  return isPlain && !looksLikeToken(name) && !looksLikeToken(key) ? { name, key } : undefined
}

/** The right form, with what is known of it. */
export function referenceForm(value: unknown): string {
  const { name, key } = referenceIn(value) ?? { name: '…', key: '…' }
  return `{secretRef: {name: ${name}, key: ${key}}}`
}

/** The field that a name such as `passwordSecretRef` was meant to be. */
export function referredField(name: string, known: readonly string[]): string | undefined {
  const base = /^(\w{1,40}?)(?:Secret)?(?:Key)?(?:Ref|From|Secret)$/.exec(name)?.[1]
  return known.find((field) => field === base)
}

/** Whether a field belongs to a reference in another form, where only `secretRef`, or `name` and `key`, may stand. */
export function isPartOfReference(name: string, known: readonly string[]): boolean {
  if (known.includes('secretRef') && known.length === 1)
    return [...AROUND, ...NAMES, ...KEYS, 'value'].includes(name)
  return known.includes('name') && known.includes('key') && [...NAMES, ...KEYS].includes(name)
}

/** Where a reference stands instead of the fields that have one each. */
export function referencesOf(fields: readonly string[], value: unknown): string {
  const name = isObject(value) && typeof value['name'] === 'string' ? value['name'] : ''
  const shown = asReference(name, 'key')?.name ?? '…'
  return fields.map((field) => `${field}: {secretRef: {name: ${shown}, key: ${field}}}`).join(' and ')
}
