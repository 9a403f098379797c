import { createSecretMask } from '../../src/lib/mask/secret-mask.ts'
import { expect, test } from 'vitest'
import { maskText } from '../../src/kinds/mask.ts'
import { excerptOf } from '../../src/lib/excerpt.ts'
import { withoutSecrets } from '../../src/lib/sensitive.ts'
import { findingAt } from '../../src/manifest/diagnostics/diagnostic.ts'
import { maskLines } from '../../src/manifest/diagnostics/mask-lines.ts'
import { maskLine } from '../../src/telemetry/logger.ts'
import { cpuMsOf } from '../support/cpu.ts'

/* One list of shapes for every mask: each row in each place that shows a text. */

const PLACE = { file: 'a.yaml', line: 1, column: 1, endColumn: 2, lineText: '' }

function finding(text: string): string {
  const statement = { severity: 'error', code: 'wrong-format', message: text, hint: text } as const
  const related = [{ file: 'a.yaml', line: 1, column: 1, message: text }]
  return JSON.stringify(findingAt(PLACE, statement, { key: undefined, related }))
}

/** Every place that shows a text, and how. */
const MASKS: Readonly<Record<string, (text: string) => string>> = {
  'a value of a body': maskText,
  'a line of a manifest': (text) => maskLines([text]).join(),
  'a finding with its message, its hint and other places': finding,
  'an excerpt of a reply': (text) => excerptOf(text, createSecretMask()),
  'a log line': maskLine,
}

/** Each has a secret, Zq8Lm3. */
const SIGNED = [
  'https://h.example/?SIG =Zq8Lm3',
  'Authorization: Basic Zq8Lm3Zq8Lm3',
  'authorization=Bearer Zq8Lm3Zq8Lm3',
  'with Basic [secret]Zq8Lm3Zq8Lm3=',
  ...String.raw`
  https://acct.blob.example/c?sp=r&sv=2022-11-02&sig=Zq8Lm3
  https://b.s3.example/x?X-Amz-Algorithm=A&X-Amz-Credential=AKIA&X-Amz-Signature=Zq8Lm3
  https://h.example/?X-Goog-Signature=Zq8Lm3   https://h.example/?Signature=Zq8Lm3&Key-Pair-Id=K
  sig=Zq8Lm3&se=2026   SharedAccessSignature=sv=2020&sig=Zq8Lm3   SharedAccessSignature=Zq8Lm3
  AccountKey=Zq8Lm3==
  DefaultEndpointsProtocol=https;AccountName=n;AccountKey=Zq8Lm3==;EndpointSuffix=core.example
  Endpoint=sb://n.example/;SharedAccessKeyName=n;SharedAccessKey=Zq8Lm3=   Server=x;User=y;Pwd=Zq8Lm3
  https://user:Zq8Lm3@h.example/x   https://user:Zq/8Lm3@h.example/x   https://:Zq8Lm3@h.example
  postgres://u:p@Zq8Lm3@h.example   https://h.example/x?a=1&amp;sig=Zq8Lm3
  https://h.example/?to=https%3A%2F%2Fx.example%3Fa%26sig%3DZq8Lm3%26b
  https://h.example/?to=https%253A%252F%252Fx.example%253Fsig%253DZq8Lm3
  {"url":"https://h.example/?a=1\u0026sig=Zq8Lm3"}   https://h.example/#access_token=Zq8Lm3
  https://h.example/?token=Zq8Lm3   https://h.example/?key=Zq8Lm3   https://h.example/x?code=Zq8Lm3
  https://h.example/?hmac=Zq8Lm3   https://h.example/?auth=Zq8Lm3   https://h.example/?jwt=Zq8Lm3
  https://h.example/?s%69g=Zq8Lm3`
    .trim()
    .split(/\s+/),
]

for (const [where, shown] of Object.entries(MASKS)) {
  test(`${where} does not show what opens or signs in a text`, () => {
    expect(SIGNED.filter((text) => /8Lm3/i.test(shown(`url ${text}`)))).toEqual([])
  })
}

test.each([
  'path: date=2026-01-31/hour=5/*.parquet',
  'partition key=5 of 8',
  'https://h.example:8443/x@y/z?sv=2022&page=4&sort=key',
  'a == b, c => d, keys=3, tokens: 4',
  'Basic authentication failed: the bearer needs authorization',
  'the username must not be admin; the password: must have 12 letters',
  'monkey=1 design=2 signal=3',
])('%s stays as it is, in a body and in an excerpt', (text) => {
  expect(maskText(text)).toBe(text)
  expect(excerptOf(text, createSecretMask())).toBe(text)
})

test.each([
  ['{"password":"Zq8Lm3"}', '{"password":[secret]}'],
  ['{\\"clientSecret\\": \\"Zq8Lm3\\", \\"a\\": 1}', '{\\"clientSecret\\": [secret], \\"a\\": 1}'],
  ["{'apiKey': 'Zq8Lm3'}", "{'apiKey': [secret]}"],
  ['user admin (username=admin, password=Zq8Lm3)', 'user admin (username=admin, password=[secret]'],
  ['username=Zq8Lm3', 'username=[secret]'],
])('what stands under a sensitive name in a reply: %s', (text, shown) => {
  expect(excerptOf(text, createSecretMask())).toBe(shown)
})

test.each([
  'args: [--password, Zq8Lm3]',
  'args: ["--api-key", "Zq8Lm3"]',
  'run: curl -u user:Zq8Lm3 https://h.example',
  'user:Zq8Lm3@h.example',
  '//Zq8Lm3@h.example',
])('a line that may be wrong does not show it either: %s', (line) => {
  expect(withoutSecrets(line, '[masked]')).not.toContain('8Lm3')
})

test('a signature that goes on in the next line is masked there, too', () => {
  const lines = ['url: "https://h.example/?a=1&sig=Zq8\\', '  Lm3&b=2"', 'name: orders']
  expect(maskLines(lines).join('\n')).toBe('url: "https:[masked]\n  [masked]\nname: orders')
})

const PARTS = ['?', '&', '#', '%26', 'a', 'sig', 'sig=', '=', 'key', ':', '//', '"', '\\"', "'", ' ']

test.each([...PARTS, 'Bearer ', '-u a:', '--password '])(
  'a long text of %s costs no more than linear time',
  (part) => {
    const shortText = `?${part.repeat(4_000)}`
    const longText = `?${part.repeat(64_000)}`
    all(shortText)
    const floor = cpuMsOf(() => all(shortText)) + 20
    expect(cpuMsOf(() => all(longText))).toBeLessThan(16 * 4 * floor)
  },
)

/** Every mask. */
function all(text: string): void {
  withoutSecrets(text, '[masked]')
  excerptOf(text, createSecretMask())
  maskLine(text)
}
