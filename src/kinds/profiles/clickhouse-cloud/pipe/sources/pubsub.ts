import { SecretRef } from '../../../../secret-ref.ts'
import { Flag, Text, z } from '../../../../zod.ts'
import { only, signsInWith, type FieldRules } from '../field-rules.ts'

export const ServiceAccountKey = z
  .strictObject({
    serviceAccountFile: SecretRef.describe('Key of the service account: its JSON in base64.'),
  })
  .optional()
  .describe('Key of the service account, for SERVICE_ACCOUNT. Write-only.')
  .meta({ returned: 'never' })

export const PubsubSource = z.strictObject({
  format: z.enum(['JSONEachRow', 'Avro', 'Protobuf']).describe('Format of the messages.'),
  projectId: Text.describe('Id of the project.').meta({ identifies: true }),
  topic: z
    .string()
    .regex(/^[^/\s]+$/, 'must be the short name of a topic, without projects/…/topics/')
    .describe('Short name of the topic.')
    .meta({ identifies: true }),
  authentication: z
    .enum(['SERVICE_ACCOUNT', 'SERVICE_ACCOUNT_WORKLOAD_IDENTITY'])
    .describe('How the pipe signs in.')
    .meta({ change: 'connection' }),
  seekType: z.enum(['latest', 'earliest', 'timestamp']).describe('Where to begin.'),
  seekTimestamp: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('Start time, only for seekType timestamp, such as 2026-01-31T08:00:00Z.')
    .meta({ form: 'zoned' }),
  filter: Text.max(256)
    .optional()
    .describe('Which messages to take: an expression in CEL.')
    .meta({ form: 'lines' }),
  enableOrdering: Flag.describe('Whether messages with the same key keep their order.'),
  ackDeadline: z
    .int()
    .min(10)
    .max(600)
    .optional()
    .describe('Longest time to acknowledge a message, in seconds: 10 to 600.')
    .meta({ change: 'update' }),
  serviceAccountKey: ServiceAccountKey.meta({ change: 'update' }),
})
export type PubsubSource = z.infer<typeof PubsubSource>

export const pubsubRules: FieldRules<PubsubSource> = ({ seekType, authentication }) => [
  only(
    authentication === 'SERVICE_ACCOUNT' ? ['serviceAccountKey'] : [],
    ['serviceAccountKey'],
    signsInWith(authentication),
  ),
  only(seekType === 'timestamp' ? ['seekTimestamp'] : [], ['seekTimestamp'], `with seekType ${seekType}`),
]
