import { isReturnedField, leafFormAt } from '../../../field-table.ts'
import { ruleWarning, type RuleFinding } from '../../../finding.ts'
import { columnRules, mappingRules, typeRules } from '../../../pipe/columns.ts'
import { brokerRules, sourceKindRules } from '../../../pipe/source-rules.ts'
import { secretRefsIn } from '../../../secret-ref.ts'
import { PIPE_FIELDS } from './fields.ts'
import type { PipeManifest, PipeSpec } from './schema.ts'
import { SOURCE_KINDS } from './source-schema.ts'

export function pipeRules({ spec }: PipeManifest): readonly RuleFinding[] {
  const named = SOURCE_KINDS.filter((kind) => spec.source[kind] !== undefined)
  return [
    ...sourceKindRules(named, SOURCE_KINDS),
    ...brokerRules(spec.source.kafka?.brokers),
    ...typeRules(spec.destination?.columns ?? []),
    ...columnRules(spec),
    ...mappingRules(spec),
    ...returnedSecretRules(spec),
  ]
}

/** Users who can read the pipe can read a returned field. Certificates are public. */
function returnedSecretRules(spec: PipeSpec): readonly RuleFinding[] {
  return secretRefsIn({ source: spec.source })
    .filter(({ path }) => isReturnedField(PIPE_FIELDS, path) && !isCertificate(path))
    .map(({ path }) =>
      ruleWarning('secret-returned', {
        path: ['spec', ...path.split('.')],
        message: `The platform returns this value to all readers of the pipe: spec.${path} is not safe for a secret.`,
        hint: 'Use a field that the platform keeps to itself, such as accessKey; or mount a value here that opens little, and renew it often.',
      }),
    )
}

function isCertificate(path: string): boolean {
  return leafFormAt(PIPE_FIELDS, path.split('.')) === 'certificate'
}
