import { CLICKHOUSE_CLOUD } from '../../../src/kinds/profiles/clickhouse-cloud/profile.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/sandbox-server.ts'
import { ANALYTICS, CREDENTIAL, ORGANIZATION, pipeManifest, SERVICE_ID } from '../../support/manifests.ts'
import { startPlatform } from '../../support/platform.ts'

export type MatrixProfile = 'default' | 'clickhouse-cloud'

/** Its pipes are there at once, and go from one state to the next soon. @param times of the second profile, instead of those */
export function startPlatformOf(
  profile: MatrixProfile,
  times: Pick<SandboxOptions, 'deletingMs' | 'listLagMs'> = {},
): Promise<Sandbox> {
  if (profile === 'default') return startPlatform()
  return createSandbox({
    profile: CLICKHOUSE_CLOUD,
    provisioningMs: 0,
    movingMs: 50,
    scalingLagMs: 0,
    ...times,
    credentials: [CREDENTIAL],
    alertTokens: [],
    fixture: { services: [{ organizationId: ORGANIZATION, serviceId: SERVICE_ID }] },
  })
}

/** A small pipe. */
export function manifestOf(profile: MatrixProfile, name: string): string {
  return profile === 'default' ? pipeManifest(name) : streamManifest(name)
}

function streamManifest(name: string): string {
  return `apiVersion: pipewright/v1
kind: Pipe
metadata: {name: ${name}}
spec:
  service: ${ANALYTICS.name}
  source:
    kafka:
      type: kafka
      format: JSONEachRow
      brokers: b-1.example:9092
      topics: ${name}
      authentication: PLAIN
      credentials: {username: reader, password: {secretRef: {name: kafka, key: password}}}
  destination:
    database: default
    table: ${name}
    managedTable: true
    tableDefinition: {engine: {type: MergeTree}, sortingKey: [id]}
    columns: [{name: id, type: UInt64}]
  fieldMappings: [{sourceField: id, destinationField: id}]
  scaling: {replicas: 1}
`
}
