/** The codes of the rules within one document (design §3), each with what it means. */
export const RULE_CODES = {
  'source-kind-count': 'a pipe names no source kind, or more than one',
  'column-repeated': 'two destination columns have the same name',
  'mapping-missing-column': 'a destination column has no field mapping',
  'mapping-unknown-column': 'a field mapping names a column that the destination does not have',
  'mapping-repeated-column': 'two field mappings name the same destination column',
  'origin-invalid': 'an entry of the allowed origins is not a domain',
  'role-repeated': 'a role is listed twice',
  'key-repeated': 'an API key is listed twice',
  'alert-id-mismatch': 'the expected id of an alert is not the id that is looked up',
  'depends-on-itself': 'a resource waits for itself',
  'policy-contradiction': 'two fields of the policy exclude each other',
  'policy-target-invalid': 'renamedFrom or replaces names something other than another pipe',
} as const

export type RuleCode = keyof typeof RULE_CODES
