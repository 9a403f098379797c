import { type Fields, formOf, isReturnedField } from '../../../field-table.ts'
import { ruleWarning, type RuleFinding } from '../../../finding.ts'
import { secretRefsIn } from '../../../secret-ref.ts'
import { PIPE_FIELDS } from './fields.ts'
import type { PipeSpec } from './schema.ts'

/**
 * A secret that is sent in a field which the platform returns can be read back by whoever may read the pipe there. What the
 * table calls a certificate is public, and no matter.
 */
export function returnedSecretRules(spec: PipeSpec): readonly RuleFinding[] {
  return secretRefsIn({ source: spec.source })
    .filter(({ path }) => isReturnedField(PIPE_FIELDS, path) && leafOf(path) !== 'certificate')
    .map(({ path }) =>
      ruleWarning('secret-returned', {
        path: ['spec', ...path.split('.')],
        message: `The platform gives this value back to whoever may read the pipe: spec.${path} is not safe for a secret.`,
        hint: 'Use a field that the platform keeps to itself, such as accessKey; or mount a value here that opens little, and renew it often.',
      }),
    )
}

/** The form of a field by its path; a path that the table does not know has none. */
function leafOf(path: string): string | undefined {
  let level: Fields = PIPE_FIELDS
  for (const name of path.split('.')) {
    const form = formOf(level, name, null)
    if (typeof form === 'string') return form
    level = form.fields
  }
  return undefined
}
