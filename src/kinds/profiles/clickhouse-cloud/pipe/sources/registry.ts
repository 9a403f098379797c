import { Text, z } from '../../../../zod.ts'
import { only, type FieldRule } from '../field-rules.ts'

export const glueShape = {
  glueRegion: Text.describe('Region of the AWS Glue registry.'),
  glueRegistryName: Text.describe('Name of the AWS Glue registry.'),
  glueRoleArn: Text.optional().describe(
    'ARN of the role for the AWS Glue registry. Default: the login of the source.',
  ),
}

export const ProtobufSchema = z
  .string()
  .min(1)
  .max(1_048_576)
  .regex(/^[\w+/-]+={0,2}$/, 'must be base64 without line breaks')
  .optional()
  .describe('Schema for the format Protobuf without a registry: a .proto file in base64. Write-only.')
  .meta({ returned: 'never', examples: ['c3ludGF4ID0gInByb3RvMyI7'] })

export function schemaRules(source: {
  readonly format: string
  readonly schemaRegistry?: unknown
}): readonly FieldRule[] {
  const { format, schemaRegistry } = source
  const because = `with format ${format}`
  if (format !== 'Protobuf')
    return [
      { needs: format === 'AvroConfluent' ? ['schemaRegistry'] : [], because },
      { excludes: ['protobufSchema'], because },
    ]
  const needed = schemaRegistry === undefined ? 'protobufSchema' : 'schemaRegistry'
  return only(
    [needed],
    ['protobufSchema'],
    `${because} and ${schemaRegistry === undefined ? 'no' : 'a'} registry`,
  )
}
