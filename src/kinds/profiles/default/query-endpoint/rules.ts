import { ruleError, ruleWarning, type RuleCode, type RuleFinding } from '../../../finding.ts'
import type { QueryEndpointManifest } from './schema.ts'

export function queryEndpointRules(manifest: QueryEndpointManifest): readonly RuleFinding[] {
  const { roles, openApiKeys, allowedOrigins } = manifest.spec
  return [
    ...repeated('role-repeated', 'roles', roles ?? []),
    ...repeated('key-repeated', 'openApiKeys', openApiKeys ?? []),
    ...originRules(allowedOrigins ?? ''),
  ]
}

function repeated(code: RuleCode, field: string, values: readonly string[]): readonly RuleFinding[] {
  const seen = new Set<string>()
  return values.flatMap((value, index) => {
    if (!seen.has(value)) {
      seen.add(value)
      return []
    }
    return [
      ruleWarning(code, {
        path: ['spec', field, index],
        message: `"${value}" is listed twice.`,
        hint: 'Remove one of the two; the order does not matter.',
      }),
    ]
  })
}

/** A blank text allows no origin. */
function originRules(text: string): readonly RuleFinding[] {
  if (text.trim() === '') return []
  return text.split(',').flatMap((entry, index) => {
    const origin = entry.trim()
    if (isOrigin(origin)) return []
    return [
      ruleError('origin-invalid', {
        path: ['spec', 'allowedOrigins'],
        message: `Entry ${index + 1} of the allowed origins${shown(origin)} is not a domain.`,
        hint: hintFor(origin),
      }),
    ]
  })
}

/** An entry with a user might hold a secret: not repeated. */
function shown(origin: string): string {
  return origin.includes('@') ? '' : `, "${origin}",`
}

function hintFor(origin: string): string {
  if (origin.includes('@')) return 'Write no user and no password: leave out all up to the "@".'
  if (origin === '') return 'Remove the extra comma.'
  if (/\s/.test(origin)) return 'Put a comma between two domains.'
  const bare = /^(?:[a-z][-a-z0-9+.]*:\/\/)?[^/?#]+(?=[/?#])/i.exec(origin)?.[0]
  if (bare !== undefined && isOrigin(bare)) return `Leave out what follows the domain: "${bare}".`
  return 'Write domains such as "app.example.com", "https://app.example.com:8443", "*.example.com", or "*".'
}

/** Host name labels. The last begins with a letter, or a broken IPv4 address would match. */
const DOMAIN = /^(?:\*\.)?(?:[a-z0-9_](?:[-a-z0-9_]{0,61}[a-z0-9])?\.)*[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/i
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/
const ENTRY = /^(?:([a-z][-a-z0-9+.]*):\/\/)?(\[[^\]]*\]|[^:/?#[\]@\s]*)(?::(\d{1,5}))?$/i

/** `*`, or a domain with optional scheme, port and `*.`. */
export function isOrigin(text: string): boolean {
  if (text === '*') return true
  const parts = ENTRY.exec(text)
  if (parts === null) return false
  const [, , host = '', port] = parts
  return isHost(host) && (port === undefined || (Number(port) >= 1 && Number(port) <= 65_535))
}

function isHost(host: string): boolean {
  if (host.startsWith('[')) return URL.canParse(`http://${host}`)
  return host.length <= 253 && (DOMAIN.test(host) || IPV4.test(host))
}
