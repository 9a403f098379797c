import { isRealDateTime } from '../../../../instant.ts'
import { Certificate, LoginFields, SecretRef, SensitiveText } from '../../../../secret-ref.ts'
import { Flag, Text, Url, z } from '../../../../zod.ts'
import { only, pemRules, ROLE_RULE, signsInWith, when, type FieldRules } from '../field-rules.ts'
import { glueShape, ProtobufSchema, schemaRules } from './registry.ts'

const HttpsUrl = Url.refine((text) => text.startsWith('https://'), 'must begin with https://')

export const KafkaSource = z.strictObject({
  type: z
    .enum(['kafka', 'redpanda', 'msk', 'gcmk', 'confluent', 'warpstream', 'azureeventhub', 'dokafka'])
    .describe('Which Kafka product or service it is.'),
  format: z.enum(['JSONEachRow', 'Avro', 'AvroConfluent', 'Protobuf']).describe('Format of the messages.'),
  brokers: Text.describe('Comma-separated list of brokers, each host:port.').meta({
    form: 'comma-list',
    identifies: true,
    examples: ['b-1.example:9092,b-2.example:9092'],
  }),
  topics: Text.describe('Comma-separated list of topics.').meta({
    form: 'comma-list',
    identifies: true,
    examples: ['orders,refunds'],
  }),
  consumerGroup: Text.optional().describe("Consumer group. Default: a name made from the pipe's id."),
  authentication: z
    .enum([
      'PLAIN',
      'SCRAM-SHA-256',
      'SCRAM-SHA-512',
      'IAM_ROLE',
      'IAM_USER',
      'MUTUAL_TLS',
      'SERVICE_ACCOUNT_WORKLOAD_IDENTITY',
    ])
    .optional()
    .describe('How the pipe signs in to the brokers. Default: no login.')
    .meta({ change: 'connection' }),
  iamRole: Text.optional().describe('ARN of the role, for IAM_ROLE.').meta({ change: 'connection' }),
  offset: z
    .strictObject({
      strategy: z.enum(['from_beginning', 'from_latest', 'from_timestamp']).describe('Where to begin.'),
      timestamp: z
        .string()
        .regex(
          /^\d{4}-\d\d-\d\dT\d\d:\d\d$/,
          'must be a date and a time to the minute, such as "2026-01-31T08:00"',
        )
        .refine(isRealDateTime, 'must be a day and a time that exist')
        .optional()
        .describe(
          'Start time, only for strategy from_timestamp: date and time in UTC, to the minute, without a zone.',
        )
        .meta({ form: 'minute', examples: ['2026-01-31T08:00'] }),
    })
    .optional()
    .describe('Where in the topics to begin.'),
  schemaRegistry: z
    .strictObject({
      type: z.enum(['confluent', 'glue']).optional().describe('Confluent or AWS Glue. Default: confluent.'),
      url: HttpsUrl.optional().describe(
        'URL of the schema registry. To use one schema, add a path like /schemas/ids/7.',
      ),
      authentication: z.enum(['PLAIN']).optional().describe('How the pipe signs in to the registry.'),
      caCertificate: Certificate.optional().describe('CA certificate of the registry (PEM).'),
      credentials: LoginFields.optional().describe('Credentials of the registry. Write-only.'),
      ...z.object(glueShape).partial().shape,
    })
    .optional()
    .describe('Schema registry.'),
  caCertificate: Certificate.optional()
    .describe('CA certificate of the brokers (PEM).')
    .meta({ change: 'connection' }),
  reversePrivateEndpointIds: z
    .array(z.guid())
    .optional()
    .describe('Ids of reverse private endpoints of the same service.')
    .meta({ form: 'set', change: 'update' }),
  protobufSchema: ProtobufSchema,
  exactlyOnce: Flag.describe('Whether each message is ingested exactly once.'),
  tombstoneMode: z
    .enum(['delete', 'soft_delete'])
    .optional()
    .describe('Effect of a message without a value: delete the row, or mark it as deleted.'),
  credentials: z
    .strictObject({
      username: SensitiveText.optional().describe('User name, for PLAIN and SCRAM.'),
      password: SecretRef.optional().describe('Password, for PLAIN and SCRAM.'),
      accessKeyId: SensitiveText.optional().describe('Access key id, for IAM_USER.'),
      secretKey: SecretRef.optional().describe('Secret key, for IAM_USER.'),
      connectionString: SecretRef.optional().describe('Connection string, for azureeventhub.'),
      certificate: Certificate.optional().describe('Client certificate (PEM), for MUTUAL_TLS.'),
      privateKey: SecretRef.optional()
        .describe('Private key of the client certificate (PEM), for MUTUAL_TLS.')
        .meta({ form: 'certificate' }),
    })
    .optional()
    .describe('Credentials of the brokers. Write-only.')
    .meta({ returned: 'never', change: 'connection' }),
})
export type KafkaSource = z.infer<typeof KafkaSource>

type Method = NonNullable<KafkaSource['authentication']>

const METHODS: Readonly<Record<KafkaSource['type'], readonly Method[]>> = {
  kafka: ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'MUTUAL_TLS'],
  redpanda: ['SCRAM-SHA-256', 'SCRAM-SHA-512', 'MUTUAL_TLS'],
  msk: ['SCRAM-SHA-512', 'IAM_ROLE', 'IAM_USER', 'MUTUAL_TLS'],
  gcmk: ['PLAIN', 'MUTUAL_TLS', 'SERVICE_ACCOUNT_WORKLOAD_IDENTITY'],
  confluent: ['PLAIN', 'MUTUAL_TLS'],
  warpstream: ['PLAIN'],
  azureeventhub: ['PLAIN'],
  dokafka: ['SCRAM-SHA-256', 'MUTUAL_TLS'],
}

const PASSWORD = ['credentials.username', 'credentials.password']
const KEY = ['credentials.accessKeyId', 'credentials.secretKey']
const CERTIFICATE = ['credentials.certificate', 'credentials.privateKey']
const STRING = ['credentials.connectionString']

const SIGNS_IN_WITH: Readonly<Record<Method, readonly string[]>> = {
  PLAIN: PASSWORD,
  'SCRAM-SHA-256': PASSWORD,
  'SCRAM-SHA-512': PASSWORD,
  IAM_ROLE: ['iamRole'],
  IAM_USER: KEY,
  MUTUAL_TLS: CERTIFICATE,
  SERVICE_ACCOUNT_WORKLOAD_IDENTITY: [],
}

const REGISTRY = {
  confluent: ['url', 'authentication', 'credentials'].map((name) => `schemaRegistry.${name}`),
  glue: ['glueRegion', 'glueRegistryName'].map((name) => `schemaRegistry.${name}`),
}

export const kafkaRules: FieldRules<KafkaSource> = (source) => {
  const { type, authentication, offset, schemaRegistry, tombstoneMode } = source
  const registry = schemaRegistry && (schemaRegistry.type ?? 'confluent')
  const isHub = type === 'azureeventhub'
  return [
    { field: 'authentication', isOneOf: METHODS[type], because: `for type ${type}` },
    ROLE_RULE,
    pemRules('caCertificate', 'schemaRegistry.caCertificate', 'credentials.certificate'),
    when(isHub, { needs: ['authentication'], because: 'for type azureeventhub' }),
    only(
      isHub ? STRING : authentication === undefined ? [] : SIGNS_IN_WITH[authentication],
      ['iamRole', ...PASSWORD, ...KEY, ...CERTIFICATE, ...STRING],
      isHub ? 'for type azureeventhub' : signsInWith(authentication),
    ),
    // AvroConfluent needs a registry. Whether plain Avro needs one is not documented.
    schemaRules(source),
    registry === undefined
      ? []
      : only(
          REGISTRY[registry],
          [
            ...Object.values(REGISTRY).flat(),
            registry === 'glue' ? 'schemaRegistry.caCertificate' : 'schemaRegistry.glueRoleArn',
          ],
          `with a registry of type ${registry}`,
        ),
    when(tombstoneMode === 'delete' && source.exactlyOnce !== true, {
      excludes: ['tombstoneMode'],
      because: 'to delete, unless exactlyOnce is true',
    }),
    offset?.strategy === 'from_timestamp'
      ? { needs: ['offset.timestamp'], because: 'with the strategy from_timestamp' }
      : { excludes: ['offset.timestamp'], because: `with the strategy ${offset?.strategy ?? ''}` },
  ]
}
