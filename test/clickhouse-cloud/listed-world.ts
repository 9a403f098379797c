import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/profiles.ts'
import type { SandboxOptions } from '../../src/sandbox/sandbox-server.ts'
import { head, ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'
import { given as givenWith, type Given, type ManifestOf, policyIn } from '../ways-out/given.ts'

/* Commands in this process, with a platform that lists its pipes. */

export function pipe(name: string, more = '', policy = ''): string {
  return `${head('Pipe', name)}${policy}
spec:
  service: analytics
  source:
    kinesis: {format: JSONEachRow, streamName: ${name}, region: eu-north-1, iteratorType: LATEST, authentication: IAM_ROLE, iamRole: "arn:aws:iam::210987654321:role/a"}
  destination:
    table: ${name.replaceAll('-', '_')}
    managedTable: true
    tableDefinition: {engine: {type: MergeTree}, sortingKey: [at]}
    columns: [{name: at, type: DateTime}]
${more}`
}

/** With fields of a step: `stream=x`, `replicas=3`, `name=x`, and policies. */
const manifestOf: ManifestOf = (name, fields) => {
  const policy = Object.entries(policyIn(fields)).map(([member, value]) => `${member}: ${value}`)
  const replicas = fields.get('replicas')
  const scaling = replicas === undefined ? '' : `  scaling: {replicas: ${replicas}}\n`
  const own = fields.has('name') ? `  name: ${fields.get('name')}\n` : ''
  const manifest = pipe(name, own + scaling, policy.length === 0 ? '' : `policy: {${policy.join(', ')}}`)
  return manifest.replace(/streamName: [^,]+/, `streamName: ${fields.get('stream') ?? name}`)
}

/** A service, and manifests of pipes with these names. */
export function given(names: readonly string[], options: Partial<SandboxOptions> = {}): Promise<Given> {
  const fixture = { alerts: [], ...options.fixture }
  return givenWith(names, { profile: CLICKHOUSE_CLOUD, ...options, fixture }, manifestOf)
}

export const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

/** A pipe that somebody made in the console. */
export function there(number: number, name: string, more: object = {}) {
  return {
    id: id(number),
    organizationId: ORGANIZATION,
    serviceId: SERVICE_ID,
    createdAt: `2026-01-01T00:00:${String(number).padStart(2, '0')}Z`,
    name,
    source: {
      kinesis: {
        format: 'JSONEachRow' as const,
        streamName: `stream-${number}`,
        region: 'eu-north-1',
        iteratorType: 'LATEST' as const,
        authentication: 'IAM_ROLE' as const,
        iamRole: 'arn:aws:iam::210987654321:role/a',
      },
    },
    destination: {
      table: `table_${number}`,
      managedTable: false,
      columns: [{ name: 'at', type: 'DateTime' }],
    },
    ...more,
  }
}

export function consoleOf(...pipes: readonly object[]) {
  return { fixture: { pipes: pipes as never } } // as its schema wants them; it says so otherwise
}
