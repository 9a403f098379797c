import { expect, test } from 'vitest'
import { isSensitiveName, SENSITIVE_NAMES } from '../../src/lib/sensitive.ts'
import { maskSensitive, sensitiveTexts } from '../../src/kinds/mask.ts'
import { maskLines } from '../../src/manifest/diagnostics/mask-lines.ts'
import { createSecretMask } from '../../src/lib/mask/secret-mask.ts'
import { maskText, REDACTED_PATHS } from '../../src/telemetry/logger.ts'

const VALUE = 'hunter2+hunter2'

/** Every place that shows something, and how it shows a value under a name. */
const MASKS: Readonly<Record<string, (name: string) => string>> = {
  'a body': (name) => JSON.stringify(maskSensitive({ source: { [name]: VALUE } })),
  'a line of a manifest': (name) => maskLines([`    ${name}: ${VALUE}`]).join(),
  'a log line': (name) => maskText(`it said "${name}": "${VALUE}"`),
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
