import { fault } from '../codes.ts'
import type { Violation } from '../finding.ts'
import { commonPolicyRules } from '../policy-rules.ts'
import type { AlertManifest } from './schema.ts'

/** What must hold within one manifest of an alert, beyond its shape. */
export function alertRules(manifest: AlertManifest): readonly Violation[] {
  const { id, expect } = manifest.spec
  const common = commonPolicyRules(manifest)
  if (expect?.id === undefined || expect.id === id) return common
  return [
    ...common,
    fault('alert-id-mismatch', {
      path: ['spec', 'expect', 'id'],
      message: `The expected id "${expect.id}" is not the id "${id}" that is looked up.`,
      hint: 'Remove `expect.id`, or make it equal to `spec.id`.',
    }),
  ]
}
