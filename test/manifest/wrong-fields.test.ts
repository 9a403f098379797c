import { describe, expect, test } from 'vitest'
import { PIPE, SERVICE, withMistake, type Mistake } from './mistaken.ts'
import { findingsOf, parse } from './support.ts'

/* Fields and values that are YAML, and wrong: what is said is what to write, with what the author wrote in it. */

const USERNAME = 'username: { secretRef: { name: kafka, key: username } }'
const PASSWORD = 'password:\n          secretRef:\n            name: kafka\n            key: password'
const COLUMNS = '      - name: id\n        type: UUID\n      - { name: amount, type: Int64 }'
const BROKERS = 'b-1.example:9092,b-2.example:9092'

const FIELDS_BELOW =
  'Write its fields below it, each on a line of its own, indented by two more spaces, without "- ".'
const A_BROKER = 'Write host:port for each broker, separated by commas. The usual port is 9092.'

type Row = readonly [why: string, base: string, from: string, to: string, said: string, hint: string]

const ROWS: readonly Row[] = [
  [
    'topics belong to the source',
    PIPE.replace('      topics: orders\n', ''),
    '  scaling:',
    '  topics: orders\n  scaling:',
    'error unknown-field 32:3',
    'It belongs under spec.source.kafka.',
  ],
  [
    'of two places the nearer',
    PIPE.replace('    database: shop\n', ''),
    '  scaling:',
    '  database: shop\n  scaling:',
    'error unknown-field 32:3',
    'It belongs under spec.destination.',
  ],
  [
    'the password of the brokers, not of their registry',
    PIPE.replace(`        ${PASSWORD}\n`, ''),
    '      topics',
    '      password: x\n      topics',
    'error unknown-field 15:7',
    'It belongs under spec.source.kafka.credentials.',
  ],
  [
    'a field that is there already',
    PIPE,
    '  labels',
    '  service: analytics\n  labels',
    'error unknown-field 5:3',
    'Remove it; known are name, labels.',
  ],
  [
    'a name of other tools',
    PIPE,
    'brokers',
    'bootstrapServers',
    'error unknown-field 14:7',
    'Remove it; known are brokers, topics, consumerGroup, iamRole, offset, schemaRegistry, caCertificate, reversePrivateEndpointIds, credentials.',
  ],
  [
    'another case',
    PIPE,
    'fieldMappings',
    'field_mappings',
    'error unknown-field 29:3',
    'Did you mean "fieldMappings"?',
  ],
  [
    'a name of other tools for the service',
    PIPE,
    'service: analytics',
    'serviceRef: analytics',
    'error unknown-field 11:3',
    'Did you mean "service"?',
  ],
  [
    'exactly a field of another place, although a similar one may stand here',
    PIPE.replace('\n  scaling:\n    replicas: 2', ''),
    '  interval: 10m',
    '  replicas: 2',
    'error unknown-field 7:3',
    'It belongs under spec.scaling.',
  ],
  [
    'similar, and its value fits here',
    PIPE,
    '  interval: 10m',
    '  replicas: Pipe/old-orders',
    'error unknown-field 7:3',
    'Did you mean "replaces"?',
  ],
  [
    'the kind of a source as a value',
    PIPE,
    `kafka:\n      brokers: ${BROKERS}\n      topics: orders\n      credentials:\n        ${USERNAME}\n        ${PASSWORD}`,
    'type: kafka',
    'error unknown-field 13:5',
    'Remove it; known are validateSamples, kafka, objectStorage, managedStream, postgres.',
  ],
  [
    'a flat reference',
    PIPE,
    USERNAME,
    'usernameSecretRef: kafka/username',
    'error unknown-field 17:9',
    'Remove it; known are username, password.',
  ],
  [
    'a reference in place of a password',
    PIPE,
    PASSWORD,
    'password: kafka/password',
    'error literal-secret 18:19',
    'Write {secretRef: {name: …, key: …}}. If the secret was committed, rotate it.',
  ],
  [
    'a text in place of name and key',
    PIPE,
    USERNAME,
    'username: { secretRef: kafka/username }',
    'error literal-secret 17:32',
    'Write secretRef: {name: …, key: …}. If the secret was committed, rotate it.',
  ],
  [
    'as in a pod',
    PIPE,
    USERNAME,
    'username: { valueFrom: { secretKeyRef: { name: kafka, key: user } } }',
    'error unknown-field 17:21',
    'Write secretRef: {name: …, key: …}, with the name of the mounted secret.',
  ],
  [
    'a reference in quotes, where a text may stand',
    PIPE,
    USERNAME,
    'username: "{ secretRef: { name: kafka, key: username } }"',
    'error wrong-format 17:19',
    'Replace the value by one of that form.',
  ],
  [
    'a password under a field of its own',
    PIPE,
    PASSWORD,
    'password: { value: hunter2 }',
    'error unknown-field 18:21',
    'Write secretRef: {name: …, key: …}, with the name of the mounted secret.',
  ],
  [
    'an item as a text',
    PIPE,
    COLUMNS,
    '      - id UUID\n      - { name: amount, type: Int64 }',
    'error wrong-type 26:9',
    FIELDS_BELOW,
  ],
  [
    'a list of one number',
    PIPE,
    'replicas: 2',
    'replicas: [2]',
    'error wrong-type 34:5',
    'Write a number, without quotes or a unit.',
  ],
  [
    'metadata of nothing',
    SERVICE,
    'metadata:\n  name: analytics',
    'metadata:',
    'error wrong-type 3:1',
    'Give it a value, or remove the field.',
  ],
  [
    'a kind in small letters',
    PIPE,
    'kind: Pipe',
    'kind: pipes',
    'error unknown-kind 2:7',
    'Did you mean "Pipe"?',
  ],
  [
    'a key where a name belongs',
    PIPE,
    'service: analytics',
    'service: Service/analytics',
    'error wrong-format 11:12',
    'Replace the value by one of that form.',
  ],
  [
    'a name with capitals and spaces',
    PIPE,
    'name: orders',
    'name: My Orders',
    'error wrong-format 4:9',
    'Write it in lower case, without spaces and "_".',
  ],
  [
    'a name where a key belongs',
    PIPE,
    '- Alert/ingest-lag',
    '- ingest-lag',
    'error wrong-format 9:7',
    'Write the kind, "/" and the name of the resource.',
  ],
  [
    'in braces, a comma ends the type',
    PIPE,
    'type: Int64 }',
    'type: Decimal(10, 2) }',
    'error unknown-field 28:43',
    'Remove it; known are name, type.',
  ],
  ['brokers with a scheme', PIPE, BROKERS, `kafka://${BROKERS}`, 'warning brokers-invalid 14:16', A_BROKER],
  [
    'a broker without a port',
    PIPE,
    BROKERS,
    'b-1.example:9092,b-2.example',
    'warning brokers-invalid 14:16',
    A_BROKER,
  ],
  [
    'brokers without a comma',
    PIPE,
    BROKERS,
    'b-1.example:9092 b-2.example:9092',
    'error brokers-invalid 14:16',
    A_BROKER,
  ],
  [
    'a host with its port',
    PIPE,
    `    kafka:\n      brokers: ${BROKERS}\n      topics: orders`,
    '    postgres:\n      host: db.example:5432',
    'error wrong-format 14:13',
    'Replace the value by one of that form.',
  ],
]

const MISTAKES: readonly Mistake[] = ROWS.map(([why, base, from, to, said, hint]) => ({
  why,
  base,
  from,
  to,
  said,
  hint,
}))

function messages(username: string): readonly string[] {
  const text = PIPE.replace('{ secretRef: { name: kafka, key: username } }', username)
  return findingsOf(parse(text)).map(({ message }) => message)
}

test('a field below a secret is not named: it can be the secret', () => {
  expect(messages('{ secretRef: { name: a, key: b }, hunter2: x }')).toEqual([
    'There is no such field in spec.source.kafka.credentials.username.',
  ])
})

describe('a field or a value that is wrong', () => {
  test.each(MISTAKES)('$why', (mistake) => {
    expect(findingsOf(parse(mistake.base ?? PIPE))).toEqual([])
    const said = findingsOf(parse(withMistake(mistake))).map(
      ({ severity, code, line, column, hint }) => `${severity} ${code} ${line}:${column} ${hint}`,
    )
    expect(said).toEqual([`${mistake.said} ${mistake.hint}`])
  })
})
