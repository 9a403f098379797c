import { AccessKey } from '../../../../secret-ref.ts'
import { Count, Flag, Text, z } from '../../../../zod.ts'
import { only, ROLE_RULE, signsInWith, type FieldRules } from '../field-rules.ts'
import { glueShape, ProtobufSchema, schemaRules } from './registry.ts'

export const KinesisSource = z.strictObject({
  format: z.enum(['JSONEachRow', 'Avro', 'AvroConfluent', 'Protobuf']).describe('Format of the records.'),
  streamName: Text.describe('Name of the stream.').meta({ identifies: true }),
  region: Text.describe('Region of the stream.').meta({ identifies: true }),
  useEnhancedFanOut: Flag.describe('Whether to read with enhanced fan-out.'),
  iteratorType: z.enum(['TRIM_HORIZON', 'LATEST', 'AT_TIMESTAMP']).describe('Where to begin.'),
  timestamp: Count.optional()
    .describe('Start time, only for iteratorType AT_TIMESTAMP: Unix time in seconds.')
    .meta({ form: 'unix-time' }),
  authentication: z
    .enum(['IAM_ROLE', 'IAM_USER'])
    .describe('How the pipe signs in.')
    .meta({ change: 'connection' }),
  iamRole: Text.optional().describe('ARN of the role, for IAM_ROLE.').meta({ change: 'connection' }),
  accessKey: AccessKey.optional()
    .describe('Access key, for IAM_USER. Write-only.')
    .meta({ change: 'connection' }),
  schemaRegistry: z
    .strictObject({ type: z.enum(['glue']).describe('AWS Glue.'), ...glueShape })
    .optional()
    .describe('Schema registry.'),
  protobufSchema: ProtobufSchema,
})
export type KinesisSource = z.infer<typeof KinesisSource>

const KEY = ['accessKey.accessKeyId', 'accessKey.secretKey']

export const kinesisRules: FieldRules<KinesisSource> = (source) => [
  ROLE_RULE,
  only(
    source.authentication === 'IAM_ROLE' ? ['iamRole'] : KEY,
    ['iamRole', ...KEY],
    signsInWith(source.authentication),
  ),
  only(
    source.iteratorType === 'AT_TIMESTAMP' ? ['timestamp'] : [],
    ['timestamp'],
    `with iteratorType ${source.iteratorType}`,
  ),
  schemaRules(source),
]
