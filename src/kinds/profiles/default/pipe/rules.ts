import type { RuleFinding } from '../../../finding.ts'
import { brokerRules } from '../../../pipe/brokers.ts'
import { typeRules } from '../../../pipe/column-type.ts'
import { columnRules, mappingRules } from '../../../pipe/columns.ts'
import { sourceKindRules } from '../../../pipe/source-kind.ts'
import type { PipeManifest } from './schema.ts'
import { SOURCE_KINDS } from './source-schema.ts'

/** What must hold within one manifest of a pipe, beyond its shape (design §3). */
export function pipeRules({ spec }: PipeManifest): readonly RuleFinding[] {
  const named = SOURCE_KINDS.filter((kind) => spec.source[kind] !== undefined)
  return [
    ...sourceKindRules(named, SOURCE_KINDS),
    ...brokerRules(spec.source.kafka?.brokers),
    ...typeRules(spec.destination?.columns ?? []),
    ...columnRules(spec),
    ...mappingRules(spec),
  ]
}
