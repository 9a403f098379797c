import type { Json, JsonObject } from '../../../../lib/json.ts'
import { membersOf } from '../../../leaf-forms.ts'
import { showText } from '../../../difference.ts'
import type { UpsertKind } from '../../../definition.ts'
import { fieldsIn } from '../../../field-table.ts'
import { repeatsIn, ruleError, ruleWarning, type FieldFinding } from '../../../finding.ts'
import { Text, z } from '../../../zod.ts'
import { ResourceName, UpsertPolicy, manifestSchema } from '../../../manifest.ts'

export const ENDPOINT_ROLES = ['sql_console_read_only', 'sql_console_admin'] as const

/** Keys and origins are limited, because the ledger stores the reply, which repeats them. */
export const MAX_KEYS = 300
export const MAX_ORIGINS_LENGTH = 10_000

const QueryEndpointSpec = z.strictObject({
  service: ResourceName.describe('Name of the Service manifest whose endpoint this is.'),
  roles: z.array(z.enum(ENDPOINT_ROLES)).optional().describe('Roles that can query.').meta({ form: 'set' }),
  openApiKeys: z
    .array(Text.max(64))
    .max(MAX_KEYS)
    .optional()
    .describe('Ids of the API keys that can query.')
    .meta({ form: 'set' }),
  allowedOrigins: z
    .string()
    .max(MAX_ORIGINS_LENGTH)
    .optional()
    .describe('Comma-separated list of domains, each with or without scheme and port, or `*`.')
    .meta({ form: 'comma-list', examples: ['https://app.example,localhost:3000'] }),
})

export const QueryEndpointManifest = manifestSchema('QueryEndpoint', UpsertPolicy, QueryEndpointSpec)
export type QueryEndpointManifest = z.infer<typeof QueryEndpointManifest>

export const QUERY_ENDPOINT: UpsertKind<QueryEndpointManifest> = {
  name: 'QueryEndpoint',
  noun: 'query endpoint',
  lifecycle: 'upsert',
  description: 'The query endpoint of a service: roles, API keys and origins that can query.',
  schema: QueryEndpointManifest,
  rules: queryEndpointRules,
  fields: fieldsIn(QueryEndpointSpec.omit({ service: true })),
  reply: { openApiKeys: 'texts', roles: 'texts', allowedOrigins: 'text' },
  operations: {
    upsert: {
      name: 'upsertQueryEndpoint',
      does: 'upsert',
      method: 'POST',
      noun: 'query endpoint',
      api: 'services',
      path: '/v1/organizations/{organizationId}/services/{serviceId}/serviceQueryEndpoint',
    },
  },
  body(manifest) {
    const { service: _, ...rest } = manifest.spec
    return rest
  },
  configured: ({ id, roles, openApiKeys, allowedOrigins }) => ({
    id,
    roles: textsOf(roles),
    openApiKeys: textsOf(openApiKeys),
    allowedOrigins: typeof allowedOrigins === 'string' ? allowedOrigins : '',
  }),
  takenAway,
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** Roles, keys and origins that an upsert with this body removes. Fields that the body omits become empty. */
function takenAway(before: JsonObject, body: JsonObject): readonly string[] {
  const origins = membersIn('comma-list', body['allowedOrigins'])
  return [
    ...lost('role', membersIn('set', before['roles']), membersIn('set', body['roles'])),
    ...lost('key', membersIn('set', before['openApiKeys']), membersIn('set', body['openApiKeys'])),
    // `*` allows all origins, so no origin is lost.
    ...(origins.has('*') ? [] : lost('origin', membersIn('comma-list', before['allowedOrigins']), origins)),
  ]
}

function lost(word: string, before: ReadonlySet<string>, after: ReadonlySet<string>): readonly string[] {
  const names = [...before].filter((name) => !after.has(name))
  return names.toSorted().map((name) => showText(`${word} ${name}`))
}

function membersIn(form: 'set' | 'comma-list', value: Json | undefined): ReadonlySet<string> {
  const members = value === undefined || value === null ? [] : (membersOf(form, value) ?? [])
  return new Set(members.filter((member) => typeof member === 'string'))
}

function queryEndpointRules(manifest: QueryEndpointManifest): readonly FieldFinding[] {
  const { roles, openApiKeys, allowedOrigins } = manifest.spec
  return [
    ...repeated('role-repeated', 'roles', roles ?? []),
    ...repeated('key-repeated', 'openApiKeys', openApiKeys ?? []),
    ...originRules(allowedOrigins ?? ''),
  ]
}

function repeated(
  code: FieldFinding['code'],
  field: string,
  values: readonly string[],
): readonly FieldFinding[] {
  return repeatsIn(values).map(({ index }) =>
    ruleWarning(code, {
      path: ['spec', field, index],
      message: `"${values[index]}" is listed twice.`,
      hint: 'Remove one of the two equal items. Their order does not matter.',
    }),
  )
}

function originRules(text: string): readonly FieldFinding[] {
  if (text.trim() === '') return []
  return text.split(',').flatMap((entry, index) => {
    const origin = entry.trim()
    if (isOrigin(origin)) return []
    // Hides an entry with a user, because it might contain a password.
    const shown = origin.includes('@') ? '' : `, "${origin}",`
    return [
      ruleError('origin-invalid', {
        path: ['spec', 'allowedOrigins'],
        message: `Entry ${index + 1} of the allowed origins${shown} is not a domain.`,
        hint: hintFor(origin),
      }),
    ]
  })
}

function hintFor(origin: string): string {
  if (origin.includes('@')) return 'Remove user, password and "@": an origin has none of them.'
  if (origin === '') return 'Remove the extra comma.'
  if (/\s/.test(origin)) return 'Put a comma between two domains.'
  const bare = /^(?:[a-z][-a-z0-9+.]*:\/\/)?[^/?#]+(?=[/?#])/i.exec(origin)?.[0]
  if (bare !== undefined && isOrigin(bare)) return `Leave out what follows the domain: "${bare}".`
  return 'Write domains such as "app.example.com", "https://app.example.com:8443", "*.example.com", or "*".'
}

/** Labels of a host name. The last begins with a letter; otherwise a broken IPv4 address would match. */
const DOMAIN = /^(?:\*\.)?(?:[a-z0-9_](?:[-a-z0-9_]{0,61}[a-z0-9])?\.)*[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/i
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/
const ENTRY = /^(?:([a-z][-a-z0-9+.]*):\/\/)?(\[[^\]]*\]|[^:/?#[\]@\s]*)(?::(\d{1,5}))?$/i

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
