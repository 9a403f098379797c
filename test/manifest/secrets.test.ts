import { describe, expect, test } from 'vitest'
import { pictureOf } from '../../src/manifest/diagnostics/diagnostic.ts'
import { MASK, maskLines } from '../../src/manifest/diagnostics/mask-lines.ts'
import { findingsOf, parse } from './support.ts'

const PLANTED = 'hunter2-XyZ'

const HEAD = 'apiVersion: pipewright/v1\nkind: Pipe\nmetadata: {name: a}\n'

const inSpec = (yaml: string) => `${HEAD}spec:\n${yaml.replaceAll(/^/gm, '  ')}\n`
const inSource = (kind: string, yaml: string) =>
  inSpec(`service: a\nsource:\n  ${kind}:\n${yaml.replaceAll(/^/gm, '    ')}`)
const inCredentials = (yaml: string) => inSource('kafka', `credentials:\n${yaml.replaceAll(/^/gm, '  ')}`)
const inKind = (kind: string, spec: string) => `${HEAD.replace('Pipe', kind)}spec: ${spec}\n`

/** Texts with the planted secret, each broken in a way that makes a finding at or near it. */
const rows: readonly (readonly [string, string])[] = [
  ['a literal password', inSource('kafka', `credentials: {username: bob, password: ${PLANTED}}`)],
  ['a literal secret key in block style', inSource('objectStorage', `accessKey:\n  secretKey: ${PLANTED}`)],
  ['a block scalar as password', inCredentials(`password: |\n  ${PLANTED}`)],
  ['a number would be one too', inSource('kafka', `credentials: {password: 12345${PLANTED}}`)],
  ['a misspelt field', inCredentials(`pasword: ${PLANTED}`)],
  ['a nested value below a secret', inCredentials(`password:\n  value: ${PLANTED}`)],
  ['a field whose name is the secret', inSource('kafka', `credentials: {password: {${PLANTED}: x}}`)],
  ['a list below a secret', inSpec(`credentials:\n- ${PLANTED}`)],
  ['an open quote', `password: "${PLANTED}\n`],
  ['an open quote over two lines', `password: "a\n  ${PLANTED}\nb: 1\n`],
  ['a colon too many', `password: ${PLANTED}: x\n`],
  ['a bad escape', `password: "\\q${PLANTED}"\n`],
  ['a stray text after a quoted one', `password: "a" ${PLANTED}\n`],
  ['a bad block header', `password: |${PLANTED}\n  x\n`],
  ['an unknown tag', `password: !${PLANTED} x\n`],
  ['an explicit key', `? password\n: ${PLANTED}: x\n`],
  ['the value on the next line, not indented, in a broken flow', `{password:\n${PLANTED}\n`],
  ['JSON with the value on the next line', `{\n "password":\n  "${PLANTED}", "a"\n  ]\n`],
  ['credentials of a service', inKind('Service', `{credentials: {keyId: x, keySecret: ${PLANTED}}}`)],
  ['credentials of a service as a text', inKind('Service', `\n  credentials: ${PLANTED}`)],
  ['a password in a URL', inSource('kafka', `schemaRegistry: {uri: "https://bob:${PLANTED}@h/"}`)],
  ['a reference that holds the secret itself', inCredentials(`password: {secretRef: "${PLANTED}"}`)],
  [
    'a certificate',
    inSpec(`x: |\n  -----BEGIN PRIVATE KEY-----\n  ${PLANTED}\n  -----END PRIVATE KEY-----\n"x`),
  ],
  ['something long that looks like a key', inSpec(`x: ${PLANTED}AAAABBBBCCCCDDDD0123456789abcdef`)],
  ['a duplicate password', `password: a\npassword: ${PLANTED}\n`],
  ['a text in upper case', `${HEAD}PASSWORD: ${PLANTED}\n`],
  ['a connection string', inSource('objectStorage', `conectionString: "AccountKey=${PLANTED}"`)],
  ...[
    `url: acc.blob.example/c/x.json?sv=2020&sig=${PLANTED}`,
    `ulr: https://acc.blob.example/c/x.json?sig=${PLANTED}&sv=2020`,
    `url: ["https://acc.blob.example/c/x.json?sv=2020&sig=${PLANTED}"]`,
    `url: https://a.example\nurl: https://b.example/?X-Amz-Signature=${PLANTED}`,
    `isContinuous: https://b.example/?token=${PLANTED}`,
    `"https://u:${PLANTED}${'.x'.repeat(30)}@b.example": 1`,
  ].map(
    (line) => [`a URL that opens something: ${line.slice(0, 50)}`, inSource('objectStorage', line)] as const,
  ),
  ...['https://u:X@x.example', 'https://X@x.example', 'u:X@x.example', 'x.example/?sig=X'].map(
    (origin) =>
      [
        `an origin with a user or a signature: ${origin}`,
        inKind(
          'QueryEndpoint',
          `\n  service: a\n  allowedOrigins: ${origin.replace('X', PLANTED)}, b.example`,
        ),
      ] as const,
  ),
  [
    'a URL whose password goes on in the next line',
    inSpec(`service: a\nsauce: "postgres://u:${PLANTED}\\\n  ${PLANTED}@x.example"`),
  ],
  ['a broker with a password behind it', inSource('kafka', `brokers: b:9092/?sasl.password=${PLANTED}`)],
]

describe('no secret leaves', () => {
  test.each(rows)('%s', (_name, text) => {
    const findings = findingsOf(parse(text))
    expect(findings.length).toBeGreaterThan(0)
    expect(JSON.stringify(findings)).not.toContain(PLANTED)
    for (const finding of findings) expect(pictureOf(finding)).not.toContain(PLANTED)
  })

  test('a literal where only a reference may stand has a code of its own, and a hint that shows the form', () => {
    const findings = findingsOf(parse(rows[0]?.[1] ?? ''))
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: 'literal-secret',
        hint: expect.stringContaining('{secretRef: {name: …, key: …}}') as string,
      }),
    )
  })

  test('references in flow style and other harmless text are shown', () => {
    const lines = [
      'spec:',
      '  credentials:',
      '  openApiKeys: [one, two]',
      `  id: 0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11`,
      '  object_storage_use_cluster_function: true',
      '  password: {secretRef: {name: kafka, key: password}} # rotated monthly',
      '  also: {username: {secretRef: {name: a, key: b}}, password: {secretRef: {name: a, key: c}}}',
    ]
    expect(maskLines(lines)).toEqual(lines)
  })

  test.each([
    ['a text in place of a reference', '  secretRef: kafka/username'],
    ['a reference with another field', '  username: {secretRef: {name: a, key: b}, hunter2: x}'],
    ['a reference that holds a text', '  username: {secretRef: hunter2}'],
    ['a reference to another kind of object', '  username: {valueFrom: hunter2}'],
    ['a text after a reference', '  username: {secretRef: {name: a, key: b}} hunter2'],
  ])('%s is masked as a whole', (_why, line) => {
    expect(maskLines([line])).toEqual([`${line.slice(0, line.indexOf(':'))}: ${MASK}`])
  })

  test('below a sensitive field, only names that Pipewright knows are shown', () => {
    const lines = ['  password: hunter2', '  hunter2: x', '  username: {secretRef: {name: a, key: b}}']
    const shown = [`  password: ${MASK}`, `  ${MASK}`, `  username: ${MASK}`]
    expect(maskLines(['credentials:', ...lines])).toEqual(['credentials:', ...shown])
  })

  test.each([
    ['a name below a sensitive field', ['password:', '  hunter2: x']],
    ['a name below a nested value', ['credentials:', '  password: |', '    secret: {name: hunter2}']],
    ['a quote that a masked line opens', ['credentials:', '  password: "a', 'hunter2: "']],
    ['an escaped quote', ['password: "a', '\\"', 'hunter2: x"']],
    ['the other kind of quote', ['password: "a', "it's", 'hunter2: x"']],
    ['a quote in brackets', ['password: ["a', 'hunter2: x"]']],
    ['a quote that the closing line opens', ['password: "a', 'b", token: "c', 'hunter2: x"']],
    ['a PEM block inside a quote', ['password: "a', '-----BEGIN X', '-----END X', 'hunter2: x"']],
    ['a second PEM block', ['x: |', '  -----BEGIN X', '  -----END X -----BEGIN Y', 'hunter2: x']],
    ['a PEM block below a sensitive field', ['credentials:', '  x: -----BEGIN X', 'hunter2: x']],
    ['a PEM block of several lines', ['x: -----BEGIN X', 'a', 'hunter2: x']],
    ['a text without indentation', ['password: |', 'hunter2']],
  ])('%s is masked', (_why, lines) => {
    expect(maskLines(lines).join('\n')).not.toContain('hunter2')
  })

  test('the mask ends where the secret ends', () => {
    expect(maskLines(['a: 1', 'password: x', 'b: 2', 'token: |', '  x', '', '  y', 'c: 3'])).toEqual([
      'a: 1',
      `password: ${MASK}`,
      'b: 2',
      `token: ${MASK}`,
      `  ${MASK}`,
      '',
      `  ${MASK}`,
      'c: 3',
    ])
  })

  test('control characters cannot draw on a terminal', () => {
    const [finding] = findingsOf(parse(`${HEAD}"a\\u001b[31m": 1\nx\u202e: 1\n`))
    expect(JSON.stringify(finding)).not.toMatch(/\\u001b|\u202e/)
  })
})
