import { fault, warning } from '../codes.ts'
import type { RuleCode } from '../rule-codes.ts'
import type { Violation } from '../finding.ts'
import { isOrigin } from './origin.ts'
import type { QueryEndpointManifest } from './schema.ts'

/** What must hold within one manifest of a query endpoint, beyond its shape (design §3). */
export function queryEndpointRules(manifest: QueryEndpointManifest): readonly Violation[] {
  const { roles, openApiKeys, allowedOrigins } = manifest.spec
  return [
    ...repeated('role-repeated', 'roles', roles ?? []),
    ...repeated('key-repeated', 'openApiKeys', openApiKeys ?? []),
    ...originRules(allowedOrigins ?? ''),
  ]
}

function repeated(code: RuleCode, field: string, values: readonly string[]): readonly Violation[] {
  const seen = new Set<string>()
  return values.flatMap((value, index) => {
    if (!seen.has(value)) {
      seen.add(value)
      return []
    }
    return [
      warning(code, {
        path: ['spec', field, index],
        message: `"${value}" is listed twice.`,
        hint: 'Remove one of the two; the order does not matter.',
      }),
    ]
  })
}

/** A blank text is a list without entries, and so allows no origin. */
function originRules(text: string): readonly Violation[] {
  if (text.trim() === '') return []
  return text.split(',').flatMap((entry, index) => {
    const origin = entry.trim()
    if (isOrigin(origin)) return []
    return [
      fault('origin-invalid', {
        path: ['spec', 'allowedOrigins'],
        message: `Entry ${index + 1} of the allowed origins, "${origin}", is not a domain.`,
        hint: hintFor(origin),
      }),
    ]
  })
}

function hintFor(origin: string): string {
  if (origin === '') return 'Remove the comma that has nothing before or after it.'
  if (/\s/.test(origin)) return 'Put a comma between two domains.'
  const bare = /^(?:[a-z][-a-z0-9+.]*:\/\/)?[^/?#]+(?=[/?#])/i.exec(origin)?.[0]
  if (bare !== undefined && isOrigin(bare)) return `Leave out what follows the domain: "${bare}".`
  return 'Write domains such as "app.example.com", "https://app.example.com:8443", "*.example.com", or "*".'
}
