import type { FieldsOf } from '../../../../field-table.ts'
import { isRealDateTime } from '../../../../instant.ts'
import { SecretRef, SensitiveText } from '../../../../secret-ref.ts'
import { HttpsUrl, Text, z } from '../../../../zod.ts'
import { only, pemRules, ROLE_RULE, when, type FieldRules } from '../field-rules.ts'

/** Facts 4.2. */
export const KafkaSource = z.strictObject({
  type: z
    .enum(['kafka', 'redpanda', 'msk', 'gcmk', 'confluent', 'warpstream', 'azureeventhub', 'dokafka'])
    .describe('Which kind of Kafka it is.'),
  format: z.enum(['JSONEachRow', 'Avro', 'AvroConfluent', 'Protobuf']).describe('Format of the messages.'),
  brokers: Text.describe('Comma-separated list of brokers, each host:port.').meta({
    examples: ['b-1.example:9092,b-2.example:9092'],
  }),
  topics: Text.describe('Comma-separated list of topics.').meta({ examples: ['orders,refunds'] }),
  consumerGroup: Text.optional().describe(
    'Consumer group to read as; made of the id of the pipe unless set.',
  ),
  authentication: z
    .enum(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'IAM_ROLE', 'IAM_USER', 'MUTUAL_TLS'])
    .describe('How it signs in to the brokers.'),
  iamRole: Text.optional().describe('ARN of the role, for IAM_ROLE.'),
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
        .describe('Where to begin with from_timestamp: date and time in UTC, to the minute, without a zone.')
        .meta({ examples: ['2026-01-31T08:00'] }),
    })
    .optional()
    .describe('Where in the topics to begin.'),
  schemaRegistry: z
    .strictObject({
      url: HttpsUrl.describe('URL of the schema registry; may end in the path of a schema id.'),
      authentication: z.enum(['PLAIN']).describe('How it signs in to the registry.'),
      caCertificate: SensitiveText.optional().describe('CA certificate of the registry (PEM).'),
      credentials: z
        .strictObject({
          username: SensitiveText.describe('User name.'),
          password: SecretRef.describe('Password, as a reference to a mounted secret.'),
        })
        .describe('Credentials of the registry. Request only.'),
    })
    .optional()
    .describe('Schema registry.'),
  caCertificate: SensitiveText.optional().describe('CA certificate of the brokers (PEM).'),
  reversePrivateEndpointIds: z
    .array(z.guid())
    .optional()
    .describe('Ids of reverse private endpoints of the same service.'),
  exactlyOnce: z.boolean().optional().describe('Whether each message is ingested exactly once.'),
  credentials: z
    .strictObject({
      username: SensitiveText.optional().describe('User name, for PLAIN and SCRAM.'),
      password: SecretRef.optional().describe('Password, for PLAIN and SCRAM.'),
      accessKeyId: SensitiveText.optional().describe('Access key id, for IAM_USER.'),
      secretKey: SecretRef.optional().describe('Secret key, for IAM_USER.'),
      connectionString: SecretRef.optional().describe('Connection string, for azureeventhub.'),
      certificate: SensitiveText.optional().describe('Client certificate (PEM), for MUTUAL_TLS.'),
      privateKey: SecretRef.optional().describe('Its private key (PEM), for MUTUAL_TLS.'),
    })
    .optional()
    .describe('Credentials of the brokers. Request only.'),
})
export type KafkaSource = z.infer<typeof KafkaSource>

export const KAFKA_FIELDS = {
  type: 'text',
  format: 'text',
  brokers: 'comma-list',
  topics: 'comma-list',
  consumerGroup: 'text',
  authentication: 'text',
  iamRole: 'text',
  offset: { fields: { strategy: 'text', timestamp: 'minute' } },
  schemaRegistry: {
    fields: {
      url: 'text',
      authentication: 'text',
      caCertificate: 'certificate',
      credentials: { requestOnly: { fields: { username: 'text', password: 'text' } } },
    },
  },
  caCertificate: 'certificate',
  reversePrivateEndpointIds: 'set',
  exactlyOnce: 'flag',
  credentials: {
    requestOnly: {
      fields: {
        username: 'text',
        password: 'text',
        accessKeyId: 'text',
        secretKey: 'text',
        connectionString: 'text',
        certificate: 'certificate',
        privateKey: 'certificate',
      },
    },
  },
} as const satisfies FieldsOf<KafkaSource>

/** R3: the methods of each type. */
const METHODS: Readonly<Record<KafkaSource['type'], readonly KafkaSource['authentication'][]>> = {
  kafka: ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'MUTUAL_TLS'],
  redpanda: ['SCRAM-SHA-256', 'SCRAM-SHA-512', 'MUTUAL_TLS'],
  msk: ['SCRAM-SHA-512', 'IAM_ROLE', 'IAM_USER', 'MUTUAL_TLS'],
  gcmk: ['PLAIN', 'MUTUAL_TLS'],
  confluent: ['PLAIN', 'MUTUAL_TLS'],
  warpstream: ['PLAIN'],
  azureeventhub: ['PLAIN'],
  dokafka: ['SCRAM-SHA-256', 'MUTUAL_TLS'],
}

const PASSWORD = ['credentials.username', 'credentials.password']
const KEY = ['credentials.accessKeyId', 'credentials.secretKey']
const CERTIFICATE = ['credentials.certificate', 'credentials.privateKey']
const STRING = ['credentials.connectionString']

/** R4 and R5: what each method signs in with. */
const SIGNS_IN_WITH: Readonly<Record<KafkaSource['authentication'], readonly string[]>> = {
  PLAIN: PASSWORD,
  'SCRAM-SHA-256': PASSWORD,
  'SCRAM-SHA-512': PASSWORD,
  IAM_ROLE: ['iamRole'],
  IAM_USER: KEY,
  MUTUAL_TLS: CERTIFICATE,
}

export const kafkaRules: FieldRules<KafkaSource> = (source) => {
  const { type, format, authentication, offset } = source
  const isHub = type === 'azureeventhub'
  return [
    { field: 'authentication', isOneOf: METHODS[type], because: `for type ${type}` },
    ROLE_RULE,
    pemRules('caCertificate', 'schemaRegistry.caCertificate', 'credentials.certificate'),
    only(
      isHub ? STRING : SIGNS_IN_WITH[authentication],
      ['iamRole', ...PASSWORD, ...KEY, ...CERTIFICATE, ...STRING],
      isHub ? 'for type azureeventhub' : `with authentication ${authentication}`,
    ),
    // R7. JSONEachRow may have one; what plain Avro takes, nobody knows.
    when(['AvroConfluent', 'Protobuf'].includes(format), {
      needs: ['schemaRegistry'],
      because: `with format ${format}`,
    }),
    // R8
    offset?.strategy === 'from_timestamp'
      ? { needs: ['offset.timestamp'], because: 'with the strategy from_timestamp' }
      : { excludes: ['offset.timestamp'], because: `with the strategy ${offset?.strategy ?? ''}` },
  ]
}
