import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import { destinationFaults, tableFaults } from './destination-rules.ts'
import { DATABASE_KINDS, SOURCE_NAMES } from './facts.ts'
import { shapeFaults, type Fault } from './shape.ts'
import { at, isSet, objectAt, textOf, unless } from './look.ts'

/*
 * The rules between fields (section 5 of the facts), as far as a body alone shows them. What the facts leave open is taken; of R2, R10 and
 * R18 (changes), R6 (a defect of the document), R11 and R23 (what is in the account), R42 (scaling of the service), R43 (alerts are not
 * written) and R44 (a hint) there is nothing to see here.
 */

export function pipeFaults(body: Json): readonly Fault[] {
  if (!isObject(body)) return [{ field: '', rule: 'type' }]
  const shape = shapeFaults(body)
  const kinds = SOURCE_NAMES.filter((name) => isSet(at(body, `source.${name}`)))
  const [kind] = kinds
  if (kinds.length !== 1 || kind === undefined) return [...shape, { field: 'source', rule: 'R1' }]
  const source = objectAt(body, `source.${kind}`)
  return [
    ...shape,
    ...(SOURCE_RULES[kind]?.(source) ?? []).map(({ field, rule }) => ({
      field: `source.${kind}${field === '' ? '' : '.'}${field}`,
      rule,
    })),
    ...destinationFaults(body, kind),
  ]
}

const SOURCE_RULES: Readonly<Record<string, (source: JsonObject) => readonly Fault[]>> = {
  kafka: kafkaFaults,
  objectStorage: objectStorageFaults,
  kinesis: kinesisFaults,
  pubsub: pubsubFaults,
  postgres: postgresFaults,
  mysql: mysqlFaults,
  mongodb: tableFaults,
  bigquery: bigqueryFaults,
}

/** R3 */
const KAFKA_METHODS: Readonly<Record<string, readonly string[]>> = {
  kafka: ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'MUTUAL_TLS'],
  redpanda: ['SCRAM-SHA-256', 'SCRAM-SHA-512', 'MUTUAL_TLS'],
  msk: ['SCRAM-SHA-512', 'IAM_ROLE', 'IAM_USER', 'MUTUAL_TLS'],
  gcmk: ['PLAIN', 'MUTUAL_TLS', 'SERVICE_ACCOUNT_WORKLOAD_IDENTITY'],
  confluent: ['PLAIN', 'MUTUAL_TLS'],
  warpstream: ['PLAIN'],
  azureeventhub: ['PLAIN'],
  dokafka: ['SCRAM-SHA-256', 'MUTUAL_TLS'],
}

/** R4: which fields the credentials have, and no other. */
function kafkaCredentials(type: Json | undefined, method: string): readonly string[] {
  if (type === 'azureeventhub') return ['connectionString']
  if (['IAM_ROLE', 'SERVICE_ACCOUNT_WORKLOAD_IDENTITY', ''].includes(method)) return []
  if (method === 'IAM_USER') return ['accessKeyId', 'secretKey']
  return method === 'MUTUAL_TLS' ? ['certificate', 'privateKey'] : ['password', 'username']
}

function kafkaFaults(kafka: JsonObject): readonly Fault[] {
  const method = textOf(kafka['authentication'])
  const credentials = Object.keys(objectAt(kafka, 'credentials')).toSorted()
  const fromTime = at(kafka, 'offset.strategy') === 'from_timestamp'
  return [
    // N11: any but Event Hubs can have no login
    ...unless(
      method === ''
        ? kafka['type'] !== 'azureeventhub'
        : KAFKA_METHODS[textOf(kafka['type'])]?.includes(method) === true,
      'authentication',
      'R3',
    ),
    ...unless(kafka['tombstoneMode'] !== 'delete' || kafka['exactlyOnce'] === true, 'tombstoneMode', 'N10'),
    ...unless(
      credentials.join(' ') === kafkaCredentials(kafka['type'], method).join(' '),
      'credentials',
      'R4',
    ),
    ...unless(method !== 'IAM_ROLE' || isSet(kafka['iamRole']), 'iamRole', 'R4'),
    ...unless(
      !['', 'SERVICE_ACCOUNT_WORKLOAD_IDENTITY'].includes(method) || !isSet(kafka['iamRole']),
      'iamRole',
      'N11',
    ),
    ...schemaFaults(kafka),
    // R8 leaves open whether it is refused otherwise, and says to leave it out
    ...unless(isSet(at(kafka, 'offset.timestamp')) === fromTime, 'offset.timestamp', 'R8'),
    ...(isSet(kafka['schemaRegistry']) ? registryFaults(objectAt(kafka, 'schemaRegistry')) : []),
  ]
}

/** R7 and N12 */
function schemaFaults(source: JsonObject): readonly Fault[] {
  const [hasRegistry, hasSchema] = [isSet(source['schemaRegistry']), isSet(source['protobufSchema'])]
  const isProtobuf = source['format'] === 'Protobuf'
  const needsRegistry = source['format'] === 'AvroConfluent' || (isProtobuf && !hasSchema)
  return [
    ...unless(!needsRegistry || hasRegistry, 'schemaRegistry', 'R7'),
    ...unless(!hasSchema || (isProtobuf && !hasRegistry), 'protobufSchema', 'N12'),
  ]
}

/** R9 and N12 */
function registryFaults(registry: JsonObject): readonly Fault[] {
  const own: readonly string[] = ['url', 'authentication', 'credentials']
  const glue: readonly string[] = ['glueRegion', 'glueRegistryName']
  const [needed, foreign] =
    registry['type'] === 'glue' ? [glue, ['caCertificate', ...own]] : [own, ['glueRoleArn', ...glue]]
  return [
    ...needed.flatMap((name) => unless(isSet(registry[name]), `schemaRegistry.${name}`, 'R9')),
    ...foreign.flatMap((name) => unless(!isSet(registry[name]), `schemaRegistry.${name}`, 'N12')),
  ]
}

/** Of them nobody knows the methods (R14). */
const OPEN_STORAGES = ['cloudflarer2', 'ovhobjectstorage']

/** R14: where each method goes. */
const STORAGE_METHODS: Readonly<Record<string, readonly string[]>> = {
  IAM_USER: ['s3', 'gcs', 'dospaces', ...OPEN_STORAGES],
  IAM_ROLE: ['s3', ...OPEN_STORAGES],
  SERVICE_ACCOUNT: ['gcs', ...OPEN_STORAGES],
  CONNECTION_STRING: ['azureblobstorage'],
  SERVICE_ACCOUNT_WORKLOAD_IDENTITY: ['gcs'],
}

/** R14: what each method needs. */
const STORAGE_NEEDS: Readonly<Record<string, readonly string[]>> = {
  IAM_USER: ['accessKey.accessKeyId', 'accessKey.secretKey'],
  IAM_ROLE: ['iamRole'],
  SERVICE_ACCOUNT: ['serviceAccountKey'],
}

/** R16 */
const QUEUE_METHODS: Readonly<Record<string, readonly string[]>> = {
  s3: ['IAM_USER', 'IAM_ROLE'],
  gcs: ['IAM_USER', 'SERVICE_ACCOUNT', 'SERVICE_ACCOUNT_WORKLOAD_IDENTITY'],
}

function objectStorageFaults(storage: JsonObject): readonly Fault[] {
  const [type, method] = [textOf(storage['type']), storage['authentication'] ?? undefined]
  const isAzure = type === 'azureblobstorage'
  const hasQueue = isSet(storage['queueUrl'])
  const skips = storage['skipInitialLoad'] === true
  const needed = [
    ...(isAzure ? ['azureContainerName', 'connectionString', 'authentication'] : []).map((name) => [
      name,
      'R13',
    ]),
    ...(STORAGE_NEEDS[textOf(method)] ?? []).map((name) => [name, 'R14']),
  ]
  return [
    ...unless(isSet(storage['url']) !== isAzure, 'url', 'R12'),
    ...unless(type === 'gcs' || !textOf(storage['url']).startsWith('gs:'), 'url', 'format'),
    ...needed.flatMap(([name = '', rule = '']) => unless(isSet(at(storage, name)), name, rule)),
    ...unless(
      method === undefined || (STORAGE_METHODS[textOf(method)]?.includes(type) ?? false),
      'authentication',
      'R14',
    ),
    ...unless(
      !isSet(storage['serviceAccountKey']) || method === 'SERVICE_ACCOUNT',
      'serviceAccountKey',
      'R14',
    ),
    ...unless(
      !hasQueue ||
        (storage['isContinuous'] === true && (QUEUE_METHODS[type]?.includes(textOf(method)) ?? false)),
      'queueUrl',
      'R16',
    ),
    ...unless(!skips || (hasQueue && !isSet(storage['startAfter'])), 'skipInitialLoad', 'R17'),
  ]
}

function kinesisFaults(kinesis: JsonObject): readonly Fault[] {
  const needed =
    kinesis['authentication'] === 'IAM_USER' ? ['accessKey.accessKeyId', 'accessKey.secretKey'] : ['iamRole']
  const needsTime = kinesis['iteratorType'] === 'AT_TIMESTAMP'
  return [
    ...needed.flatMap((name) => unless(isSet(at(kinesis, name)), name, 'R19')),
    ...unless(!needsTime || isSet(kinesis['timestamp']), 'timestamp', 'R20'),
    ...schemaFaults(kinesis),
  ]
}

function pubsubFaults(pubsub: JsonObject): readonly Fault[] {
  const hasKey = pubsub['authentication'] === 'SERVICE_ACCOUNT'
  return [
    ...unless(
      isSet(pubsub['seekTimestamp']) === (pubsub['seekType'] === 'timestamp'),
      'seekTimestamp',
      'R22',
    ),
    ...unless(isSet(pubsub['serviceAccountKey']) === hasKey, 'serviceAccountKey', 'N5'),
  ]
}

/** N5 */
function bigqueryFaults(bigquery: JsonObject): readonly Fault[] {
  const hasKey = bigquery['authentication'] !== 'SERVICE_ACCOUNT_WORKLOAD_IDENTITY'
  return [
    ...tableFaults(bigquery),
    ...unless(isSet(bigquery['credentials']) === hasKey, 'credentials', 'N5'),
    ...unless(hasKey || isSet(bigquery['projectId']), 'projectId', 'N5'),
  ]
}

/** R24 */
function loginFaults(database: JsonObject): readonly Fault[] {
  const hasRole = database['authentication'] === 'IAM_ROLE'
  return [
    ...unless(isSet(database['iamRole']) === hasRole, 'iamRole', 'R24'),
    ...unless(isSet(at(database, 'credentials.password')) !== hasRole, 'credentials.password', 'R24'),
  ]
}

function postgresFaults(postgres: JsonObject): readonly Fault[] {
  const settings = objectAt(postgres, 'settings')
  const hasSlot = isSet(settings['replicationSlotName'])
  return [
    ...tableFaults(postgres),
    ...loginFaults(postgres),
    ...unless(!hasSlot || settings['replicationMode'] === 'cdc_only', 'settings.replicationSlotName', 'R28'),
    ...unless(!hasSlot || settings['enableFailoverSlots'] !== true, 'settings.enableFailoverSlots', 'R30'),
  ]
}

function mysqlFaults(mysql: JsonObject): readonly Fault[] {
  const isMaria = mysql['type'] === 'mariadb' || mysql['type'] === 'rdsmariadb'
  const byPosition = at(mysql, 'settings.replicationMechanism') === 'FILE_POS'
  return [
    ...tableFaults(mysql),
    ...loginFaults(mysql),
    ...unless(!(isMaria && byPosition), 'settings.replicationMechanism', 'R38'),
  ]
}

/** Whether a pipe copies a database, by the one kind of its source. */
export function isDatabasePipe(body: JsonObject): boolean {
  return DATABASE_KINDS.some((kind) => isSet(at(body, `source.${kind}`)))
}
