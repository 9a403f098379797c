import { describe, expect, test } from 'vitest'
import { ALERT, ENDPOINT, PIPE, SERVICE, withMistake, type Mistake } from './mistaken.ts'
import { findingsOf, parse } from './support.ts'

/* Fields and values that are YAML, and wrong: what is said is what to write, with what the author wrote in it. */

const USERNAME = 'username: { secretRef: { name: kafka, key: username } }'
const PASSWORD = 'password:\n          secretRef:\n            name: kafka\n            key: password'
const COLUMNS = '      - name: id\n        type: UUID\n      - { name: amount, type: Int64 }'
const MAPPINGS =
  '    - sourceField: id\n      destinationField: id\n    - { sourceField: amount, destinationField: amount }'
const BROKERS = 'b-1.example:9092,b-2.example:9092'

const KINDS =
  'Write "kind" with one of Service, Pipe, QueryEndpoint, Alert, Lock. Name a file of another program in .pipewrightignore.'
const FIELDS_BELOW =
  'Write its fields below it, each on a line of its own, indented by two more spaces, without "- ".'
const ONE_TEXT = 'Write one text, in quotes.'
const A_LIST = 'Write a list: [first, second].'
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
    'replicas belong to scaling',
    PIPE.replace('    replicas: 2', '    concurrency: 1'),
    '  scaling:',
    '  replicas: 2\n  scaling:',
    'error unknown-field 33:3',
    'It belongs under spec.scaling.',
  ],
  [
    'the interval is a policy',
    PIPE.replace('  interval: 10m\n', ''),
    '  scaling:',
    '  interval: 10m\n  scaling:',
    'error unknown-field 32:3',
    'It belongs under policy.',
  ],
  [
    'adopt is a policy',
    PIPE,
    '  scaling:',
    '  adopt: 9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d\n  scaling:',
    'error unknown-field 33:3',
    'It belongs under policy.',
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
    'not beside the source that is there',
    PIPE,
    '  scaling:',
    '  url: https://registry.example\n  scaling:',
    'error unknown-field 33:3',
    'It belongs under spec.source.kafka.schemaRegistry or under spec.source.objectStorage.',
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
    'of another kind',
    ENDPOINT,
    '  interval: 1h',
    '  interval: 1h\n  onMissing: report',
    'error unknown-field 7:3',
    'Remove it; known are interval, suspend, dependsOn.',
  ],
  [
    'misspelt: it is not missing as well',
    PIPE,
    '- sourceField: id',
    '- sourceFeld: id',
    'error unknown-field 30:7',
    'Did you mean "sourceField"?',
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
  ['another case at the top', PIPE, 'spec:', 'Spec:', 'error unknown-field 10:1', 'Did you mean "spec"?'],
  ['another case of the kind', PIPE, 'kind: Pipe', 'Kind: Pipe', 'error unknown-kind 1:1', KINDS],
  [
    'a name of other tools for the service',
    PIPE,
    'service: analytics',
    'serviceRef: analytics',
    'error unknown-field 11:3',
    'Did you mean "service"?',
  ],
  [
    'the service as other tools refer to it',
    PIPE,
    'service: analytics',
    'serviceRef: { name: analytics }',
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
    'a second source under the name of others',
    PIPE,
    '    kafka:',
    '    s3: { url: "https://a.example" }\n    kafka:',
    'error unknown-field 13:5',
    'Remove it; known are validateSamples, kafka, objectStorage, managedStream, postgres.',
  ],
  [
    'a source that there is not',
    PIPE,
    '    kafka:',
    '    rabbit:',
    'error unknown-field 13:5',
    'Remove it; known are validateSamples, kafka, objectStorage, managedStream, postgres.',
  ],
  [
    'a reference that refers to nothing, and is none of another field',
    PIPE,
    '  scaling:',
    '  secretRef: x\n  scaling:',
    'error unknown-field 33:3',
    'Remove it; known are service, name, source, destination, fieldMappings, scaling, settings.',
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
    'a flat reference as a mapping',
    PIPE,
    PASSWORD,
    'passwordSecretRef: { name: kafka, key: pw }',
    'error unknown-field 18:9',
    'Remove it; known are username, password.',
  ],
  [
    'a reference in place of a password',
    PIPE,
    PASSWORD,
    'password: kafka/password',
    'error literal-secret 18:19',
    'Write {secretRef: {name: …, key: …}}. Replace a secret that was committed.',
  ],
  [
    'a password with a slash is not repeated',
    PIPE,
    PASSWORD,
    'password: hunter/fish7',
    'error literal-secret 18:19',
    'Write {secretRef: {name: …, key: …}}. Replace a secret that was committed.',
  ],
  [
    'a text in place of name and key',
    PIPE,
    USERNAME,
    'username: { secretRef: kafka/username }',
    'error literal-secret 17:32',
    'Write secretRef: {name: …, key: …}. Replace a secret that was committed.',
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
    'a reference in quotes, where none may stand',
    PIPE,
    PASSWORD,
    "password: 'secretRef: {name: kafka, key: password}'",
    'error literal-secret 18:19',
    'Write {secretRef: {name: …, key: …}}. Replace a secret that was committed.',
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
    'one for both',
    PIPE,
    `credentials:\n        ${USERNAME}\n        ${PASSWORD}`,
    'credentials: { secretRef: { name: kafka } }',
    'error unknown-field 16:22',
    'Remove it; known are username, password.',
  ],
  [
    'a Service has both keys in one secret',
    SERVICE,
    '{ secretRef: { name: analytics-api } }',
    '{ secretRef: analytics-api/keyId }',
    'error literal-secret 8:29',
    'Write secretRef: {name: …}. Replace a secret that was committed.',
  ],
  [
    'one item as a mapping',
    PIPE,
    MAPPINGS,
    '    sourceField: id\n    destinationField: id',
    'error wrong-type 29:3',
    A_LIST,
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
    'a list of topics',
    PIPE,
    'topics: orders',
    'topics: [orders, refunds]',
    'error wrong-type 15:7',
    ONE_TEXT,
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
    'values with commas',
    ENDPOINT,
    '[sql_console_read_only]',
    'sql_console_read_only, sql_console_admin',
    'error wrong-type 9:10',
    A_LIST,
  ],
  ['one state', ALERT, '[OK]', 'OK', 'error wrong-type 6:18', 'Write a list: [first, second].'],
  ['labels in a list', PIPE, '{ team: payments }', '[payments]', 'error wrong-type 5:3', FIELDS_BELOW],
  [
    'metadata as a text',
    SERVICE,
    'metadata:\n  name: analytics',
    'metadata: analytics',
    'error wrong-type 3:11',
    FIELDS_BELOW,
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
  ['a part of a kind', ENDPOINT, 'kind: QueryEndpoint', 'kind: Endpoint', 'error unknown-kind 2:7', KINDS],
  [
    'a key where a name belongs',
    PIPE,
    'service: analytics',
    'service: Service/analytics',
    'error wrong-format 11:12',
    'Replace the value by one of that form.',
  ],
  [
    'a mapping where a name belongs',
    PIPE,
    'service: analytics',
    'service: { name: analytics }',
    'error wrong-type 11:3',
    ONE_TEXT,
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
    'a name where a list of keys belongs',
    PIPE,
    'dependsOn:\n    - Alert/ingest-lag',
    'dependsOn: ingest-lag',
    'error wrong-type 8:14',
    A_LIST,
  ],
  [
    'a key as a mapping',
    PIPE,
    '- Alert/ingest-lag',
    '- { kind: Alert, name: ingest-lag }',
    'error wrong-type 9:7',
    ONE_TEXT,
  ],
  [
    'the former name without its kind',
    PIPE,
    '  interval: 10m',
    '  renamedFrom: old-orders',
    'error wrong-format 7:16',
    'Write the kind, "/" and the former name.',
  ],
  [
    'a bracket that is not closed',
    PIPE,
    'type: UUID',
    'type: Decimal(10, 2',
    'error column-type-invalid 27:15',
    'Write one ")" for each "(".',
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
  ['a port that is none', PIPE, BROKERS, 'b-1.example:99092', 'error brokers-invalid 14:16', A_BROKER],
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
