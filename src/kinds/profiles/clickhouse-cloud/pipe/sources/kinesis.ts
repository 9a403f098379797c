import type { FieldsOf } from '../../../../field-table.ts'
import { AccessKey } from '../../../../secret-ref.ts'
import { Count, Text, z } from '../../../../zod.ts'
import { only, ROLE_RULE, type FieldRules } from '../field-rules.ts'

/** Facts 4.4. */
export const KinesisSource = z.strictObject({
  format: z.enum(['JSONEachRow', 'Avro', 'AvroConfluent']).describe('Format of the records.'),
  streamName: Text.describe('Name of the stream.'),
  region: Text.describe('Region of the stream.'),
  useEnhancedFanOut: z.boolean().optional().describe('Whether to read with enhanced fan-out.'),
  iteratorType: z.enum(['TRIM_HORIZON', 'LATEST', 'AT_TIMESTAMP']).describe('Where to begin.'),
  timestamp: Count.optional().describe('Where to begin with AT_TIMESTAMP: Unix time in seconds.'),
  authentication: z.enum(['IAM_ROLE', 'IAM_USER']).describe('How it signs in.'),
  iamRole: Text.optional().describe('ARN of the role, for IAM_ROLE.'),
  accessKey: AccessKey.optional().describe('Access key, for IAM_USER. Request only.'),
})
export type KinesisSource = z.infer<typeof KinesisSource>

export const KINESIS_FIELDS = {
  format: 'text',
  streamName: 'text',
  region: 'text',
  useEnhancedFanOut: 'flag',
  iteratorType: 'text',
  timestamp: 'unix-time',
  authentication: 'text',
  iamRole: 'text',
  accessKey: { requestOnly: { fields: { accessKeyId: 'text', secretKey: 'text' } } },
} as const satisfies FieldsOf<KinesisSource>

const KEY = ['accessKey.accessKeyId', 'accessKey.secretKey']

export const kinesisRules: FieldRules<KinesisSource> = ({ authentication, iteratorType }) => [
  ROLE_RULE,
  // R19
  only(
    authentication === 'IAM_ROLE' ? ['iamRole'] : KEY,
    ['iamRole', ...KEY],
    `with authentication ${authentication}`,
  ),
  // R20
  only(
    iteratorType === 'AT_TIMESTAMP' ? ['timestamp'] : [],
    ['timestamp'],
    `with iteratorType ${iteratorType}`,
  ),
]
