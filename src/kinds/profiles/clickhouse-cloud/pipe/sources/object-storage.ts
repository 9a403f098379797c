import { AccessKey, SecretRef } from '../../../../secret-ref.ts'
import { Flag, Text, z } from '../../../../zod.ts'
import { only, ROLE_RULE, signsInWith, when, type FieldRules } from '../field-rules.ts'

export const ObjectStorageSource = z.strictObject({
  type: z
    .enum(['s3', 'gcs', 'dospaces', 'azureblobstorage', 'cloudflarer2', 'ovhobjectstorage'])
    .describe('Which storage product or service it is.'),
  format: z
    .enum([
      'JSONEachRow',
      'JSONAsObject',
      'CSV',
      'CSVWithNames',
      'TabSeparated',
      'TabSeparatedWithNames',
      'Parquet',
      'Avro',
    ])
    .describe('Format of the files.'),
  url: z
    .string()
    .regex(/^(?:https|gs):\/\/[^\s/]+/, 'must be a URL that begins with https://, or for gcs with gs://')
    .optional()
    .describe('URL of the objects, with wildcards if needed. Not for azureblobstorage.')
    .meta({ identifies: true, examples: ['https://bucket.example/events/*.json'] }),
  delimiter: Text.optional().describe('Delimiter of the fields in a file.').meta({ form: 'raw' }),
  compression: z
    .enum(['none', 'gzip', 'gz', 'brotli', 'br', 'xz', 'LZMA', 'zstd', 'auto'])
    .optional()
    .describe('Compression of the files.'),
  isContinuous: Flag.describe('Whether new files are ingested as they come.'),
  queueUrl: Text.optional().describe(
    'Queue with notices of new files: an SQS URL, or projects/PROJECT/subscriptions/SUBSCRIPTION.',
  ),
  skipInitialLoad: Flag.describe('Whether to skip the files that already exist.').meta({
    returned: 'at times',
    change: 'update',
  }),
  startAfter: Text.optional()
    .describe('Key of an object. The pipe begins with the object after it.')
    .meta({ form: 'foreign', change: 'update' }),
  authentication: z
    .enum([
      'IAM_ROLE',
      'IAM_USER',
      'CONNECTION_STRING',
      'SERVICE_ACCOUNT',
      'SERVICE_ACCOUNT_WORKLOAD_IDENTITY',
    ])
    .optional()
    .describe('Kind of authentication. Not needed for public objects.')
    .meta({ returned: 'at times', change: 'connection' }),
  iamRole: Text.optional().describe('ARN of the role, for IAM_ROLE.').meta({ change: 'connection' }),
  connectionString: SecretRef.optional()
    .describe('Connection string, for azureblobstorage.')
    .meta({ returned: 'at times', change: 'connection' }),
  path: Text.optional()
    .describe('Path of the files in the container, with wildcards if needed, for azureblobstorage.')
    .meta({ returned: 'at times', identifies: true, change: 'update' }),
  azureContainerName: Text.optional()
    .describe('Name of the container, for azureblobstorage.')
    .meta({ returned: 'at times', identifies: true, change: 'update' }),
  accessKey: AccessKey.optional()
    .describe('Access key, for IAM_USER. Write-only.')
    .meta({ change: 'connection' }),
  serviceAccountKey: SecretRef.optional()
    .describe('For SERVICE_ACCOUNT: the JSON key of the service account, in base64. Write-only.')
    .meta({ returned: 'never', change: 'connection' }),
})
export type ObjectStorageSource = z.infer<typeof ObjectStorageSource>

/** Authentication methods that each type of storage allows. For R2 and OVH, none are documented. */
const METHODS: Readonly<Record<ObjectStorageSource['type'], readonly string[]>> = {
  s3: ['IAM_USER', 'IAM_ROLE'],
  gcs: ['IAM_USER', 'SERVICE_ACCOUNT', 'SERVICE_ACCOUNT_WORKLOAD_IDENTITY'],
  dospaces: ['IAM_USER'],
  azureblobstorage: ['CONNECTION_STRING'],
  cloudflarer2: ['IAM_USER', 'IAM_ROLE', 'SERVICE_ACCOUNT'],
  ovhobjectstorage: ['IAM_USER', 'IAM_ROLE', 'SERVICE_ACCOUNT'],
}

const KEY = ['accessKey.accessKeyId', 'accessKey.secretKey']
const AZURE = ['connectionString', 'azureContainerName']

const SIGNS_IN_WITH: Readonly<Record<NonNullable<ObjectStorageSource['authentication']>, readonly string[]>> =
  {
    IAM_ROLE: ['iamRole'],
    IAM_USER: KEY,
    CONNECTION_STRING: ['connectionString'],
    SERVICE_ACCOUNT: ['serviceAccountKey'],
    SERVICE_ACCOUNT_WORKLOAD_IDENTITY: [],
  }

/** Matches a password in a URL. A colon that only digits follow begins a port instead. */
const PASSWORD = /^[a-z]+:\/\/[^/:?#[]*:(?!\d*(?:[/?#]|$)).*@/i

export const objectStorageRules: FieldRules<ObjectStorageSource> = (source) => {
  const { type, authentication, queueUrl } = source
  const isAzure = type === 'azureblobstorage'
  return [
    { field: 'authentication', isOneOf: METHODS[type], because: `for type ${type}` },
    ROLE_RULE,
    { field: 'url', begins: type === 'gcs' ? ['https://', 'gs://'] : ['https://'] },
    { field: 'queueUrl', begins: ['https://', 'projects/'] },
    ['url', 'queueUrl'].map((field) => ({ field, lacks: PASSWORD, is: 'a password', instead: 'accessKey' })),
    when(
      isAzure,
      { needs: ['authentication', ...AZURE], because: `for type ${type}` },
      { excludes: ['url'], because: `for type ${type}` },
    ),
    when(
      !isAzure,
      { needs: ['url'], because: `for type ${type}` },
      { excludes: [...AZURE, 'path'], because: `for type ${type}` },
    ),
    only(
      authentication === undefined ? [] : SIGNS_IN_WITH[authentication],
      ['iamRole', 'serviceAccountKey', ...KEY, ...(isAzure ? ['connectionString'] : [])],
      signsInWith(authentication),
    ),
    when(
      queueUrl !== undefined,
      { needs: ['authentication'], because: 'with queueUrl' },
      { field: 'type', isOneOf: ['s3', 'gcs'], because: 'with queueUrl' },
    ),
    when(queueUrl !== undefined && source.isContinuous !== true, {
      excludes: ['queueUrl'],
      because: 'unless isContinuous is true',
    }),
    when(
      source.skipInitialLoad === true,
      { needs: ['queueUrl'], because: 'with skipInitialLoad' },
      { excludes: ['startAfter'], because: 'with skipInitialLoad' },
    ),
  ]
}
