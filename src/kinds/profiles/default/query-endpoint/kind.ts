import type { Json, JsonObject } from '../../../../lib/json.ts'
import { membersOf } from '../../../canonical.ts'
import { showText } from '../../../difference.ts'
import type { UpsertKind } from '../../../definition.ts'
import { queryEndpointRules } from './rules.ts'
import { QueryEndpointManifest } from './schema.ts'

/** 4.3. The reply returns all (2.7). */
const FIELDS = {
  roles: 'set',
  openApiKeys: 'set',
  allowedOrigins: 'comma-list',
} as const

export const QUERY_ENDPOINT: UpsertKind<QueryEndpointManifest> = {
  name: 'QueryEndpoint',
  noun: 'query endpoint',
  lifecycle: 'upsert',
  description: 'The query endpoint of a service: roles, API keys and origins that can query.',
  schema: QueryEndpointManifest,
  rules: queryEndpointRules,
  fields: FIELDS,
  reply: { id: 'id', openApiKeys: 'texts', roles: 'texts', allowedOrigins: 'text' },
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
  /** 4.3. */
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

/** Roles, then keys, then origins. An omitted field is emptied by the upsert (4.3). */
function takenAway(before: JsonObject, body: JsonObject): readonly string[] {
  const origins = membersIn('comma-list', body['allowedOrigins'])
  return [
    ...lost('role', membersIn('set', before['roles']), membersIn('set', body['roles'])),
    ...lost('key', membersIn('set', before['openApiKeys']), membersIn('set', body['openApiKeys'])),
    // `*` allows all origins.
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
