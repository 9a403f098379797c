import type { Json } from '../../src/lib/json.ts'
import { FACTS, type Fact } from './facts.ts'
import { FORMATS } from './formats.ts'

/* Bodies that each break one thing: of every field what its row says, and of the rules each. */

/** What of a field is broken, and the value that does it; none takes the field away. */
export interface Breakage {
  readonly what: string
  readonly field: string
  readonly value: Json | undefined
}

const NO_VALUES: Readonly<Record<Fact['type'], Json>> = {
  string: 7,
  int: 1.5,
  number: 'many',
  bool: 'yes',
  'string[]': 'one',
}

/** What can be wrong with each field by itself. */
export const BREAKAGES: readonly Breakage[] = FACTS.flatMap((fact) =>
  breakagesOf(fact).map(([what, value]) => ({ what, field: fact.field, value })),
)

function breakagesOf(fact: Fact): readonly (readonly [what: string, value: Json | undefined])[] {
  const { type, low, high, words } = fact
  const format = FORMATS.find(({ says }) => fact.values.startsWith(says))
  const isText = type === 'string'
  // a secret is a reference in a manifest, and what is behind it is not known there
  const isOpen = !fact.isSecret
  return [
    ['type', NO_VALUES[type]],
    ...(isText && isOpen ? [['R41', ''] as const] : []),
    ...(words === undefined ? [] : [['words', 'no-such-word'] as const]),
    ...(low === undefined || isText ? [] : [['range', type === 'int' ? low - 1 : low / 2] as const]),
    ...(high === undefined ? [] : [['range', isText ? 'x'.repeat(high + 1) : high + 1] as const]),
    ...(format === undefined || !isOpen ? [] : [['format', format.wrong] as const]),
    ...(fact.needed === 'yes' || fact.needed === 'in object' ? [['needed', undefined] as const] : []),
  ]
}

/** Fields of a known pipe that break a rule together; a path has the numbers of items in it. */
export interface BrokenRule {
  readonly rule: string
  readonly pipe: string
  readonly edits: Readonly<Record<string, Json | undefined>>
}

const REF = { secretRef: { name: 'a', key: 'b' } }
const GONE = undefined

function row(rule: string, pipe: string, edits: BrokenRule['edits']): BrokenRule {
  return { rule, pipe, edits }
}

const KAFKA = 'source.kafka'
const FILES = 'source.objectStorage'
const KINESIS = 'source.kinesis'
const POSTGRES = 'source.postgres'
const MYSQL = 'source.mysql'
const ROLE = 'arn:aws:iam::210987654321:role/a'

export const BROKEN_RULES: readonly BrokenRule[] = [
  row('R1', 'orders', { 'source.mongodb': { uri: REF } }),
  row('R1', 'orders', { [KAFKA]: GONE, 'source.validateSamples': true }),
  row('R3', 'orders', { [`${KAFKA}.authentication`]: 'SCRAM-SHA-256' }),
  row('R3', 'payments', { [`${KAFKA}.type`]: 'kafka' }),
  row('R4', 'orders', { [`${KAFKA}.credentials`]: GONE }),
  row('R4', 'orders', { [`${KAFKA}.credentials.certificate`]: REF }),
  row('R4', 'orders', { [`${KAFKA}.type`]: 'azureeventhub' }),
  row('R4', 'payments', { [`${KAFKA}.iamRole`]: GONE }),
  row('R4', 'payments', { [`${KAFKA}.credentials`]: { username: 'a', password: REF } }),
  row('R4', 'orders', { [`${KAFKA}.credentials.password`]: GONE }), // R5 for a password
  row('R7', 'orders', { [`${KAFKA}.schemaRegistry`]: GONE }),
  row('R7', 'orders', { [`${KAFKA}.schemaRegistry`]: GONE, [`${KAFKA}.format`]: 'Protobuf' }),
  row('N12', 'orders', { [`${KAFKA}.protobufSchema`]: 'YQ==' }),
  row('N12', 'orders', { [`${KAFKA}.schemaRegistry.glueRoleArn`]: ROLE }),
  row('R9', 'orders', { [`${KAFKA}.schemaRegistry.type`]: 'glue' }),
  row('R9', 'orders', { [`${KAFKA}.schemaRegistry.url`]: GONE }),
  row('N10', 'orders', { [`${KAFKA}.tombstoneMode`]: 'delete' }),
  row('R8', 'orders', { [`${KAFKA}.offset.timestamp`]: GONE }),
  row('R8', 'orders', { [`${KAFKA}.offset.strategy`]: 'from_latest' }),
  row('R9', 'orders', { [`${KAFKA}.schemaRegistry.credentials`]: GONE }),
  row('R12', 'sessions', { [`${FILES}.url`]: GONE }),
  row('R12', 'newsletters', { [`${FILES}.url`]: 'https://a.example/*' }),
  row('format', 'sessions', { [`${FILES}.url`]: 'gs://bucket/*' }),
  row('R13', 'newsletters', { [`${FILES}.azureContainerName`]: GONE }),
  row('R13', 'newsletters', { [`${FILES}.connectionString`]: GONE }),
  row('R13', 'newsletters', { [`${FILES}.authentication`]: GONE }),
  row('R14', 'sessions', { [`${FILES}.authentication`]: 'IAM_USER' }),
  row('R14', 'sessions', { [`${FILES}.iamRole`]: GONE }),
  row('R14', 'campaigns', { [`${FILES}.serviceAccountKey`]: GONE }),
  row('R14', 'campaigns', { [`${FILES}.type`]: 's3', [`${FILES}.url`]: 'https://a.example/*' }),
  row('R14', 'sessions', { [`${FILES}.serviceAccountKey`]: REF }),
  row('words', 'sessions', { [`${FILES}.authentication`]: 'PUBLIC' }), // R15
  row('R16', 'sessions', { [`${FILES}.isContinuous`]: GONE }),
  row('R16', 'sessions', { [`${FILES}.authentication`]: GONE, [`${FILES}.iamRole`]: GONE }),
  row('R17', 'sessions', { [`${FILES}.queueUrl`]: GONE }),
  row('R17', 'sessions', { [`${FILES}.startAfter`]: 'a' }),
  row('R19', 'clicks', { [`${KINESIS}.accessKey`]: GONE }),
  row('R19', 'clicks', { [`${KINESIS}.accessKey.secretKey`]: GONE }),
  row('R19', 'clicks', { [`${KINESIS}.accessKey`]: GONE, [`${KINESIS}.authentication`]: 'IAM_ROLE' }),
  row('R7', 'clicks', { [`${KINESIS}.format`]: 'AvroConfluent' }),
  row('R7', 'clicks', { [`${KINESIS}.format`]: 'Protobuf' }),
  row('N5', 'parcels', { 'source.pubsub.serviceAccountKey': GONE }),
  row('N5', 'stock-archive', { 'source.bigquery.credentials': GONE }),
  row('N5', 'stock-archive', { 'source.bigquery.authentication': 'SERVICE_ACCOUNT_WORKLOAD_IDENTITY' }),
  row('R20', 'clicks', { [`${KINESIS}.timestamp`]: GONE }),
  row('R22', 'parcels', { 'source.pubsub.seekTimestamp': GONE }),
  row('R22', 'parcels', { 'source.pubsub.seekType': 'latest' }),
  ...[['customers', POSTGRES] as const, ['stock-history', MYSQL] as const].flatMap(([pipe, source]) => [
    row('R24', pipe, { [`${source}.credentials.password`]: GONE }),
    row('R24', pipe, { [`${source}.iamRole`]: ROLE }),
    row('R24', pipe, { [`${source}.iamRole`]: ROLE, [`${source}.authentication`]: 'IAM_ROLE' }),
    row('words', pipe, { [`${source}.authentication`]: 'iam_role' }),
    row('R25', pipe, { [`${source}.tableMappings`]: GONE }),
    row('R25', pipe, { [`${source}.tableMappings`]: [] }),
    row('R31', pipe, { [`${source}.tableMappings.0.useCustomSortingKey`]: true }),
    row('R31', pipe, { [`${source}.tableMappings.0.excludedColumns`]: ['a', 'a'] }),
    row('R32', pipe, { 'destination.table': 'a' }),
    row('R32', pipe, { 'destination.managedTable': false }),
    row('R32', pipe, { 'destination.columns': [{ name: 'a', type: 'String' }] }),
    row('R33', pipe, { 'destination.database': GONE, 'destination.roles': ['a'] }),
    row('R34', pipe, { fieldMappings: [{ sourceField: 'a', destinationField: 'a' }] }),
    row('R36', pipe, { scaling: { replicas: 1 } }),
    row('R37', pipe, { settings: { clickhouse_max_threads: 1 } }),
  ]),
  row('R26', 'customers', { [`${POSTGRES}.tableMappings.1.targetTable`]: 'customers' }),
  row('R27', 'customers', { [`${POSTGRES}.tableMappings.1.sourceTable`]: 'customers' }),
  row('R28', 'customers', { [`${POSTGRES}.settings.replicationSlotName`]: 'a' }),
  row('R41', 'customers', { [`${POSTGRES}.settings.publicationName`]: '' }), // R29
  row('R30', 'customers', {
    [`${POSTGRES}.settings.replicationMode`]: 'cdc_only',
    [`${POSTGRES}.settings.replicationSlotName`]: 'a',
    [`${POSTGRES}.settings.enableFailoverSlots`]: true,
  }),
  row('R32', 'clicks', { 'destination.managedTable': GONE }),
  row('R32', 'clicks', { 'destination.table': GONE }),
  row('R32', 'clicks', { 'destination.columns': GONE }),
  row('R32', 'clicks', { 'destination.tableDefinition': GONE }),
  row('R34', 'orders', { 'fieldMappings.0': GONE }),
  row('key', 'orders', { 'fieldMappings.0.destinationField': 'total' }),
  row('key', 'clicks', { 'destination.columns.0.name': 'clicked_at' }),
  row('R35', 'orders', { 'destination.tableDefinition.engine.versionColumnId': 'a' }),
  row('R35', 'orders', { 'destination.tableDefinition.engine.type': 'MergeTree' }),
  row('R35', 'orders', { 'destination.tableDefinition.sortingKey': GONE }),
  row('R35', 'payments', { 'destination.tableDefinition.engine.columnIds': ['a'] }),
  row('R36', 'orders', { 'scaling.concurrency': 1 }),
  row('R36', 'sessions', { scaling: { replicaMemoryGb: 1 } }),
  row('R36', 'parcels', { scaling: { replicaCpuMillicores: 250 } }),
  row('R38', 'stock-history', { [`${MYSQL}.settings.replicationMechanism`]: 'FILE_POS' }),
  row('words', 'stock-archive', { 'source.bigquery.settings.replicationMode': 'cdc' }), // R39
  row('needed', 'catalogue', { 'source.mongodb.credentials.password': GONE }), // R40
]
