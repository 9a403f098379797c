import { expect, test } from 'vitest'
import type { Fields } from '../../src/kinds/field-table.ts'
import { PROFILES } from '../../src/kinds/profiles/profiles.ts'
import { isSensitiveName, SENSITIVE_FIELDS, SENSITIVE_NAMES } from '../../src/lib/sensitive.ts'
import { maskSensitive, sensitiveTexts } from '../../src/kinds/mask.ts'
import { maskLines } from '../../src/manifest/diagnostics/mask-lines.ts'
import { createSecretMask } from '../../src/lib/mask/secret-mask.ts'
import { maskLine, REDACTED_PATHS } from '../../src/telemetry/logger.ts'

const VALUE = 'hunter2+hunter2'

/** Every place that shows something, and how it shows a value under a name. */
const MASKS: Readonly<Record<string, (name: string) => string>> = {
  'a body': (name) => JSON.stringify(maskSensitive({ source: { [name]: VALUE } })),
  'a line of a manifest': (name) => maskLines([`    ${name}: ${VALUE}`]).join(),
  'a log line': (name) => maskLine(`it said "${name}": "${VALUE}"`),
  'a reply that repeats what was sent': (name) =>
    createSecretMask(sensitiveTexts({ [name]: VALUE })).mask(`you sent ${VALUE}`),
}

for (const [where, shown] of Object.entries(MASKS)) {
  test(`${where} does not show what stands under a name that tells of a secret`, () => {
    expect(SENSITIVE_NAMES.filter((name) => shown(name).includes('hunter2'))).toEqual([])
  })

  test(`${where} shows what stands under a name that tells nothing`, () => {
    expect(shown('topics')).toContain(VALUE)
  })
}

function secretsIn(fields: Fields): readonly string[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    field.isSensitive ? name : secretsIn(field.fields),
  )
}

test('each field that takes a reference to a secret has such a name', () => {
  const kinds = PROFILES.flatMap(({ kinds: all }) => all)
  const names = kinds.flatMap((kind) => ('fields' in kind ? secretsIn(kind.fields) : []))
  expect(new Set(names)).toEqual(new Set(SENSITIVE_FIELDS))
})

test('fields of a log line are kept back by the same names', () => {
  for (const name of SENSITIVE_NAMES) expect(REDACTED_PATHS).toContain(name)
})

test.each([
  ['clientSecret', true],
  ['api_key', true],
  ['X-Authorization', true],
  ['saslJaasConfig', true],
  ['openApiKeys', false],
  ['topics', false],
  ['keyIdentity', false],
])('%s is sensitive: %s', (name, sensitive) => {
  expect(isSensitiveName(name)).toBe(sensitive)
})
