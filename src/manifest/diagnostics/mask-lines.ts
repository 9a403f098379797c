import { nearest } from '../../lib/nearest.ts'
import { isSensitiveName, withoutSecrets, SENSITIVE_FIELDS, SENSITIVE_NAMES } from '../../lib/sensitive.ts'

export const MASK = '[masked]'

/** More than this of a line is never shown, and so never looked at. */
const LOOKED_AT = 4_096

const FIELD = /(^|[\s{,[?"'-])("?'?)([A-Za-z_$][\w.$-]{0,80})\2[ \t]*(:(?=[\s"'[{]|$)|:|=(?!=))[ \t]*/g

/** A reference written in the flow style: harmless, and worth seeing. */
const REFERENCE =
  /^\{\s*(?:secretRef\s*:\s*\{\s*)?(?:name\s*:\s*[\w.-]{1,80})?(?:\s*,\s*key\s*:\s*[\w.-]{1,80})?\s*\}?\s*\}/

/** A reference in the form of a path, with a key that is called like what it is for: people write it so in place of name and key. */
const PATH = `["']?[a-z][a-z.-]{0,39}[/:#](?:${[...SENSITIVE_NAMES, 'keyId'].join('|')})["']?`
const REFERENCE_PATH = new RegExp(`^${PATH}(?=[ \\t]*(?:[,}#]|$))`)
const REFERENCE_TO_PATH = new RegExp(`^\\{\\s*secretRef\\s*:\\s*${PATH}\\s*\\}`)

/** Where a mapping under a sensitive name begins with fields that are no secret. */
const HARMLESS_START = /^(?:\{\s*(?:valueFrom|secretKeyRef|secretRef)\s*:\s*)*/

const PLAIN_NAME = /^[ \t]*(?:name|key):[ \t]+[\w.-]{1,80}[ \t]*$/

/** Long runs that look like base64, a key or a token; UUIDs are let through. */
const RUN = /[A-Za-z0-9+/_=-]{32,}/g
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether a value under this name is kept from every output. Misspelt names count. */
export function looksSensitive(name: string): boolean {
  if (isSensitiveName(name)) return true
  return name.length > 5 && nearest(name.slice(0, 80), SENSITIVE_FIELDS) !== undefined
}

/** Whether a text reads like a key or a token. */
export function looksLikeToken(text: string): boolean {
  return /-----BEGIN/.test(text) || (text.match(RUN) ?? []).some((run) => !isHarmlessRun(run))
}

/**
 * The lines of a text, each with everything masked that may be a secret. It knows no YAML, on purpose:
 * what it has to show most often is text that does not parse.
 */
export function maskLines(lines: readonly string[]): readonly string[] {
  const masked: string[] = []
  let open: Open | undefined
  for (const line of lines) {
    const raw = line.length > LOOKED_AT ? line.slice(0, LOOKED_AT) : line
    const step = maskLine(raw, open)
    masked.push(step.text)
    open = step.open
  }
  return masked
}

/** A sensitive field, or a PEM block, that goes on over the next lines. */
interface Open {
  readonly indent: number
  /** `block`: mask deeper lines whole · `nested`: mask values of deeper lines · `quote`, `pem`: until it closes. */
  readonly how: 'block' | 'nested' | 'next' | 'quote' | 'pem'
  /** The character, or the text, that closes `quote` and `pem`. */
  readonly until: string
  /** Indentation of a `secretRef:` line below; its plain names are shown. */
  readonly reference: number | undefined
}

interface Step {
  readonly text: string
  readonly open: Open | undefined
}

function maskLine(line: string, open: Open | undefined): Step {
  if (/^(?:---|\.\.\.)(?:\s|$)/.test(line)) return maskFresh(line, undefined)
  if (open === undefined) return maskFresh(line, undefined)
  const indent = indentOf(line)
  if (line.trim() === '') return { text: line, open }
  if (open.how === 'pem' || open.how === 'quote') {
    return { text: whole(line), open: line.includes(open.until) ? undefined : open }
  }
  if (open.how === 'next' && !/^\s*(?:- )?["']?[\w.$-]+["']?\s*:/.test(line)) {
    return { text: whole(line), open: { ...open, how: 'block' } }
  }
  if (indent <= open.indent && !/^\s*-(?:\s|$)/.test(line)) return maskFresh(line, undefined)
  if (indent < open.indent) return maskFresh(line, undefined)
  if (open.how === 'block') return { text: whole(line), open }
  return maskNested(line, indent, { ...open, how: 'nested' })
}

/** A line below a sensitive field: names stay, values go, plain references stay. */
function maskNested(line: string, indent: number, open: Open): Step {
  if (/^\s*secretRef\s*:\s*$/.test(line)) return { text: line, open: { ...open, reference: indent } }
  if (open.reference !== undefined && indent > open.reference && PLAIN_NAME.test(line))
    return { text: line, open }
  const field = /^(\s*(?:- )?["']?[\w.$-]{1,80}["']?\s*:)(\s+(.*))?$/.exec(line)
  if (field === null) return { text: whole(line), open }
  const value = (field[3] ?? '').trim()
  if (value === '') return { text: line, open: { ...open, reference: undefined } }
  const reference = referenceAt(value, /\bsecretRef["']?\s*:$/.test(field[1] ?? ''))
  if (reference !== undefined && /^[\s,}\]]*(?:#.*)?$/.test(value.slice(reference.length)))
    return { text: line, open: { ...open, reference: undefined } }
  return {
    text: `${field[1] ?? ''} ${HARMLESS_START.exec(value)?.[0] ?? ''}${MASK}`,
    open: continued(value, indent) ?? { ...open, reference: undefined },
  }
}

/** A line outside any sensitive field. */
function maskFresh(line: string, open: Open | undefined): Step {
  const begin = line.indexOf('-----BEGIN')
  if (begin >= 0) {
    const closed = line.includes('-----END')
    return {
      text: line.slice(0, begin) + MASK,
      open: closed ? open : { indent: 0, how: 'pem', until: '-----END', reference: undefined },
    }
  }
  FIELD.lastIndex = 0
  for (let match = FIELD.exec(line); match !== null; match = FIELD.exec(line)) {
    const name = match[3] ?? ''
    if (!looksSensitive(name)) {
      FIELD.lastIndex = match.index + match[0].length - (match[0].length > match[0].trimEnd().length ? 1 : 0)
      continue
    }
    const at = match.index + match[0].length
    const value = line.slice(at)
    const indent = indentOf(line)
    if (value.trim() === '' || value.startsWith('#')) {
      return {
        text: maskRuns(line.slice(0, at)),
        open: { indent, how: 'next', until: '', reference: name === 'secretRef' ? indent : undefined },
      }
    }
    const reference = referenceAt(value, name === 'secretRef')
    if (reference === undefined) {
      const start = HARMLESS_START.exec(value)?.[0] ?? ''
      return { text: maskRuns(line.slice(0, at)) + start + MASK, open: continued(value.trim(), indent) }
    }
    FIELD.lastIndex = at + reference.length
  }
  const explicit = /^\s*\?\s+["']?([\w.$-]{1,80})/.exec(line)
  if (explicit !== null && looksSensitive(explicit[1] ?? '')) {
    return { text: line, open: { indent: indentOf(line), how: 'next', until: '', reference: undefined } }
  }
  const cut = CUT_PASSWORD.exec(line)
  if (cut !== null) {
    const text = maskRuns(line.slice(0, cut.index + (cut[1] ?? '').length)) + MASK
    return { text, open: { indent: indentOf(line), how: 'quote', until: '"', reference: undefined } }
  }
  return { text: maskRuns(line), open: brokenOff(line) ?? open }
}

/** The password of a URL in double quotes whose line ends in the middle of it, by a backslash. */
const CUT_PASSWORD = /(:\/\/[^/?#\s@:]{0,256}:)[^/?#\s@]*\\$/

/** The reference with which a value begins, that of the field `secretRef` or of a sensitive one. */
function referenceAt(value: string, isSecretRef: boolean): string | undefined {
  const path = isSecretRef ? REFERENCE_PATH : REFERENCE_TO_PATH
  return (REFERENCE.exec(value) ?? path.exec(value))?.[0]
}

/** How a sensitive value that begins like this goes on after its line. */
function continued(value: string, indent: number): Open {
  const quote = value[0]
  if ((quote === '"' || quote === "'") && !value.slice(1).includes(quote)) {
    return { indent, how: 'quote', until: quote, reference: undefined }
  }
  if (value.includes('-----BEGIN') && !value.includes('-----END')) {
    return { indent, how: 'pem', until: '-----END', reference: undefined }
  }
  return { indent, how: 'block', until: '', reference: undefined }
}

/** A signature in double quotes whose line ends in a backslash goes on in the next one. */
function brokenOff(line: string): Open | undefined {
  if (!line.endsWith('\\') || !line.includes('=') || withoutSecrets(line, MASK) === line) return undefined
  return { indent: indentOf(line), how: 'quote', until: '"', reference: undefined }
}

function maskRuns(text: string): string {
  return withoutSecrets(text, MASK).replaceAll(RUN, (run) => (isHarmlessRun(run) ? run : MASK))
}

/** UUIDs, and words without a digit: names of fields and of tables may be long. */
function isHarmlessRun(run: string): boolean {
  return UUID.test(run) || /^[a-z_/-]+$/.test(run) || /^-+$/.test(run)
}

function whole(line: string): string {
  return /^\s*/.exec(line)?.[0].concat(MASK) ?? MASK
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}
