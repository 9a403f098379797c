import { policyOfWish, specOfWish, type Wish } from './cloud/wish.ts'
import { PLANTED } from './leaks.ts'
import type { Service } from './world.ts'

export const SOURCES = ['kafka', 'objectStorage', 'managedStream', 'postgres'] as const
export type SourceKind = (typeof SOURCES)[number]

/** What makes a manifest invalid. */
export const FLAWS = [
  'unknown-field',
  'literal-password',
  'broken-yaml',
  'missing-mapping',
  'unknown-service',
  'cut-off',
] as const
export type Flaw = (typeof FLAWS)[number]

/** One pipe through edits, renames and absences. Its name on the platform never changes. */
export interface Lineage {
  readonly platformName: string
  readonly service: Service
  readonly source: SourceKind
  /** Name of the mounted secret with its password. */
  readonly secret: string
  readonly dependsOn: string | undefined
  /** `metadata.name`. */
  name: string
  readonly formerNames: Set<string>
  /** Path in the tree; several pipes may share one. */
  file: string
  present: boolean
  flaw: Flaw | undefined
  replicas: number
  /** Whether it was ever edited: then it may rightly be NotUpdatable. */
  edited: boolean
  /** ISO timestamp. */
  suspendedUntil: string | undefined
  adopt: string | undefined
  retryCreate: string | undefined
  renamedFrom: string | undefined
  recreate: string | undefined
  /** What it asks for, where the service changes pipes; undefined: as all of its source do. */
  wish: Wish | undefined
  /** A manifest, or somebody in the console, stopped it at some time: it stays so until a manifest says otherwise. */
  wasStopped: boolean
}

export function keyOfLineage({ name }: Pick<Lineage, 'name'>): string {
  return `Pipe/${name}`
}

export function renderPipe(pipe: Lineage): string {
  const text = pipe.wish === undefined ? plainText(pipe) : wishedText(pipe, pipe.wish)
  return pipe.flaw === 'cut-off' ? cutOff(text, 0.4) : text
}

function wishedText(pipe: Lineage, wish: Wish): string {
  const password =
    pipe.flaw === 'literal-password'
      ? `${PLANTED}-literal-password`
      : { secretRef: { name: pipe.secret, key: 'password' } }
  const spec = specOfWish(wish, { name: pipe.platformName, password })
  const mappings =
    pipe.flaw === 'missing-mapping'
      ? { fieldMappings: [{ sourceField: 'id', destinationField: 'nowhere' }] }
      : {}
  const service = pipe.flaw === 'unknown-service' ? 'nowhere' : pipe.service
  return `apiVersion: pipewright/v1
kind: Pipe
metadata: {name: ${pipe.name}, labels: {team: torture}}
${policyOf(pipe)}spec: ${JSON.stringify({ service, name: pipe.platformName, ...spec, ...mappings })}
${pipe.flaw === 'unknown-field' ? 'replicass: 2\n' : ''}${pipe.flaw === 'broken-yaml' ? '  : [unclosed\n' : ''}`
}

function plainText(pipe: Lineage): string {
  return `apiVersion: pipewright/v1
kind: Pipe
metadata: {name: ${pipe.name}, labels: {team: torture}}
${policyOf(pipe)}spec:
  service: ${pipe.flaw === 'unknown-service' ? 'nowhere' : pipe.service}
  name: ${pipe.platformName}
  source:
${sourceOf(pipe)}
  destination:
    database: default
    table: ${pipe.platformName}
    managedTable: true
    columns: [{name: id, type: UInt64}, {name: at, type: DateTime}]
  fieldMappings: [{sourceField: id, destinationField: id}${
    pipe.flaw === 'missing-mapping' ? '' : ', {sourceField: at, destinationField: at}'
  }]
  scaling: {replicas: ${pipe.replicas}, replicaMemoryGb: 0.5}
  settings: {streaming_max_insert_wait_ms: 500}
${pipe.flaw === 'unknown-field' ? '  replicass: 2\n' : ''}${pipe.flaw === 'broken-yaml' ? '  : [unclosed\n' : ''}`
}

/** The beginning of a text, up to an open bracket: never a manifest by chance, which would be an edit like any other. */
export function cutOff(text: string, share: number): string {
  return text.slice(0, text.lastIndexOf('{', Math.floor(text.length * share)) + 1)
}

function policyOf(pipe: Lineage): string {
  const policy = {
    adopt: pipe.adopt,
    retryCreate: pipe.retryCreate,
    renamedFrom: pipe.renamedFrom,
    recreate: pipe.recreate,
    dependsOn: pipe.dependsOn === undefined ? undefined : [pipe.dependsOn],
    ...(pipe.wish && policyOfWish(pipe.wish)),
    suspend:
      pipe.suspendedUntil === undefined ? undefined : { reason: 'torture', until: pipe.suspendedUntil },
  }
  return Object.values(policy).every((value) => value === undefined)
    ? ''
    : `policy: ${JSON.stringify(policy)}\n`
}

function sourceOf(pipe: Lineage): string {
  const password =
    pipe.flaw === 'literal-password'
      ? `${PLANTED}-literal-password`
      : `{secretRef: {name: ${pipe.secret}, key: password}}`
  switch (pipe.source) {
    case 'kafka':
      return `    kafka:
      brokers: b-1.example:9092,b-2.example:9092
      topics: ${pipe.platformName}
      consumerGroup: torture
      caCertificate: ${PLANTED}-ca-certificate
      credentials: {username: ${PLANTED}-username, password: ${password}}`
    case 'objectStorage':
      return `    objectStorage:
      url: https://bucket.example/${pipe.platformName}/*.csv
      delimiter: ","
      isContinuous: true
      connectionString: ${PLANTED}-connection-string-of-${pipe.platformName}
      accessKey: {accessKeyId: ${PLANTED}-access-key-id, secretKey: ${password}}`
    case 'managedStream':
      return `    managedStream:
      streamName: ${pipe.platformName}
      region: eu-1
      accessKey: {accessKeyId: ${PLANTED}-access-key-id, secretKey: ${password}}`
    case 'postgres':
      return `    postgres:
      host: db.example
      port: 5432
      database: ${pipe.platformName}
      credentials: {username: ${PLANTED}-username, password: ${password}}
      tableMappings: [{sourceSchemaName: public, sourceTable: ${pipe.platformName}, targetTable: ${pipe.platformName}}]`
  }
}
