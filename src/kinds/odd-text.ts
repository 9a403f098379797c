import { OVERRIDES, TURNING } from '../lib/shown-text.ts'
import type { Path } from './finding.ts'
import type { LeafForm } from './leaf-forms.ts'

/** Zero-width joiners that no script needs: two in a row, at the start, or after a space, ASCII or Latin character. */
const JOINER = String.raw`(?<![^\s\0-\x7f\p{Script=Latin}])[\u200c\u200d]|[\u200c\u200d]{2}`

const INVISIBLE = String.raw`\xad\u115f\u1160\u180e\u200b\u2060-\u2064\u3164\ufeff\uffa0\ufff9-\ufffb`

const UNSEEN = String.raw`(?![\t\n\r])[\p{Cc}\p{Cs}${TURNING}${INVISIBLE}]|${JOINER}`

const ODD_IN_LINE = new RegExp(String.raw`${UNSEEN}|[\t\n\r]|^\s|\s$`, 'u')

const ODD_IN_LINES = /(?![\t\n\r])[\p{Cc}\p{Cs}]/u

const ODD_IN: Partial<Readonly<Record<LeafForm, RegExp>>> = {
  block: new RegExp(UNSEEN, 'u'),
  lines: ODD_IN_LINES,
  certificate: ODD_IN_LINES,
  ordered: new RegExp(String.raw`${UNSEEN}|[\n\r]|^\s|\s$`, 'u'),
  foreign: /(?!\t)[\p{Cc}\p{Cs}]/u,
  raw: /\p{Cs}/u,
}

/** Ciphertexts and references of SOPS, Ansible, Argo CD, vals, 1Password, Azure and Vault. */
const REFERENCE =
  /^(?:ENC\[[A-Z0-9_]+(?:,[^\]]*\])?|\$ANSIBLE_VAULT;.*|-----BEGIN (?:AGE|PGP) .*|<path:[^<>\n]+>|(?:ref\+[a-z]\w*|vault|bws?|ssm|akv|gcpsm|awssm):\/\/\S+|op:\/\/[^\n]+|@Microsoft\.KeyVault\([^()\n]*\)|(?:>>)?vault:[a-z][\w-]*\/\S+)$/s

/** Placeholders that people write, such as `change-me`, or that build tasks replace, such as `#{NAME}#`. */
const PLACEHOLDER = /^(?:(?:change|replace)[-_]?(?:me|this)|<[a-z][\w .-]*>|#\{[\w.]+\}#?)$/i

/** Variables of Concourse, such as `((name))`. */
const IN_PARENTHESES = /^\(\([\w./:-]+\)\)$/

/** Forms that can hold SQL, where double parentheses are legal. */
const SQL: ReadonlySet<LeafForm> = new Set(['block', 'lines', 'ordered'])

const FREE_TEXTS: ReadonlySet<string | number> = new Set(['message', 'note', 'reason', 'labels'])

/** The first invisible or misleading character, such as a blank at the end. */
export function oddCharacterIn(form: LeafForm, text: string): string | undefined {
  return (OVERRIDES.exec(text) ?? (ODD_IN[form] ?? ODD_IN_LINE).exec(text))?.[0]
}

/**
 * Finds what Pipewright refuses in a text of a manifest.
 * @returns the first odd character, `__proto__`, or `unresolved` for a placeholder or reference of another tool
 */
export function faultOf(form: LeafForm, path: Path, text: string) {
  const odd = oddCharacterIn(form, text)
  if (odd !== undefined) return odd
  if (text === '__proto__') return text
  if (form === 'raw') return undefined
  const isList = form === 'comma-list' || path.includes('allowedOrigins')
  const isSql = SQL.has(form) && !isList
  const isFree = path.some((step) => FREE_TEXTS.has(step))
  const isUnresolved = (part: string) =>
    REFERENCE.test(part) ||
    (!isFree && form !== 'foreign' && PLACEHOLDER.test(part)) ||
    (!isFree && !isSql && IN_PARENTHESES.test(part))
  const parts = isList ? [text].concat(text.split(',')) : [text]
  return parts.some((part) => isUnresolved(part.trim())) ? 'unresolved' : undefined
}
