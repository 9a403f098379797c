import { describe, expect, test } from 'vitest'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/profiles.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { textFormAt, type Profile } from '../../src/kinds/profile.ts'
import { cpuMsOf } from '../support/cpu.ts'
import { ALERT, ENDPOINT, PIPE, SERVICE } from './mistaken.ts'
import { causeOfBrokenText, textFindings, UNRESOLVED } from '../../src/manifest/yaml/text-findings.ts'
import { findingsOf, parse, pipe } from './support.ts'

/* Texts that cannot be meant: line breaks and blanks from YAML's forms, encrypted texts, placeholders. */

function errorsOf(text: string | Buffer, file?: string): readonly string[] {
  return findingsOf(parse(text, file))
    .filter(({ severity }) => severity === 'error')
    .map(({ code, line }) => `${code} ${line}`)
}

/** As JSON: the text is in the manifest exactly as it is here. */
function withTopics(topics: string): string {
  return PIPE.replace('topics: orders', () => `topics: ${JSON.stringify(topics)}`)
}

/** Texts between line breaks or three blanks. */
function textsOf(list: string): readonly string[] {
  return list.trim().split(/ {3,}|\n */)
}

describe('a text of one line', () => {
  test.each([
    ['a block that keeps its last line break', '|\n        orders', 'topics'],
    ['a folded block', '>\n        orders', 'topics'],
    ['a folded block that keeps all', '>+\n        orders\n\n', 'topics'],
    ['two lines', '|-\n        orders\n        refunds', 'topics'],
    ['a line break alone', '"\\n"', 'topics'],
  ])('says how to write a block: %s', (_why, block) => {
    const [finding, ...more] = findingsOf(parse(PIPE.replace('topics: orders', `topics: ${block}`)))
    expect(more).toEqual([])
    expect(finding).toMatchObject({
      code: 'unseen-character',
      line: 15,
      hint: 'Write the text on one line, or add "-" to "|" or ">" to remove the last line break.',
    })
  })

  const BLANKS = ['orders\trefunds', ' orders', 'orders ', ' ', 'orders\u00a0', 'orders\u2028refunds']
  const UNSEEN = ['orders\r', 'ord\0ers', 'ord\u200bers', 'ord\u00aders', '\ufefforders', 'orders\u007f']
  const HALF = ['orders\ud83d', '\ude00orders']
  const JOINERS = ['ord\u200ders', '\u200dक', 'क\u200c\u200dष', 'café\u200d']

  test.each([...BLANKS, ...UNSEEN, ...HALF, ...JOINERS])('is refused: %j', (topics) => {
    expect(errorsOf(withTopics(topics))).toEqual(['unseen-character 15'])
  })

  test.each(['orders, ENC[AES256_GCM,data:Zm9v]', 'CHANGEME,orders'])('is unresolved: %s', (topics) => {
    expect(errorsOf(withTopics(topics))).toEqual(['unresolved 15'])
  })

  const JOINED = ['\u{1f468}\u200d\u{1f469}\u200d\u{1f467}', 'یک\u200cدو', 'അവന്\u200d', 'അവന്\u200d,orders']
  test.each(['orders, refunds', 'Bestellungen für Köln', ...JOINED, 'a\u00a0b'])('is taken: %s', (topics) =>
    expect(findingsOf(parse(withTopics(topics)))).toEqual([]),
  )

  test.each([PIPE, SERVICE, ENDPOINT, ALERT])('is any text and any name of any manifest', (manifest) => {
    const paths = pathsIn(JSON.parse(JSON.stringify(parse(manifest).documents[0]?.manifest)))
    expect(paths.length).toBeGreaterThan(5)
    for (const path of paths.filter((steps) => !isOfLines(steps))) {
      const value = JSON.parse(JSON.stringify(parse(manifest).documents[0]?.manifest)) as object
      const parent = path.slice(0, -1).reduce<object>((at, step) => Reflect.get(at, step) as object, value)
      const last = path.at(-1) ?? ''
      Reflect.set(parent, last, `${String(Reflect.get(parent, last))}\n`)
      expect
        .soft(findingsOf(parse(JSON.stringify(value), 'a.json')), path.join('.'))
        .toMatchObject([{ code: 'unseen-character' }])
    }
  })

  test('an alias brings its text to a field of another form', () => {
    const text = pipe('a', { topics: '*d' }).replace('{name: a}', '{name: a, labels: {x: &d "orders\\n"}}')
    expect(errorsOf(text)).toEqual(['unseen-character 3', 'unseen-character 7'])
  })
})

const isOfLines = (path: readonly string[]) => ['allowedOrigins', 'type'].includes(path.at(-1) ?? '')

function pathsIn(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value === 'string') return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => pathsIn(inner, [...path, name]))
}

const armored = (what: string) => `-----BEGIN ${what}-----\nMIIB\n-----END ${what}-----\n`

describe('a text of another form', () => {
  const CLOUD_KAFKA = ['schemaRegistry.caCertificate', 'caCertificate', 'credentials.certificate']
  test.each<readonly [string, Profile, string, readonly string[]]>([
    ['raw', DEFAULT, 'Pipe', ['source.objectStorage.delimiter']],
    ['raw', CLICKHOUSE_CLOUD, 'Pipe', ['source.objectStorage.delimiter']],
    [
      'lines',
      DEFAULT,
      'Pipe',
      ['destination.tableDefinition.partitionBy', 'destination.tableDefinition.primaryKey'],
    ],
    ['lines', DEFAULT, 'Alert', ['expect.message']],
    [
      'lines',
      CLICKHOUSE_CLOUD,
      'Alert',
      ['message', 'note', 'groupBy', 'expect.message', 'expect.note', 'expect.groupBy'],
    ],
    [
      'lines',
      CLICKHOUSE_CLOUD,
      'Pipe',
      ['destination.tableDefinition.partitionBy', 'source.postgres.tableMappings.partitionByExpr'],
    ],
    ['certificate', CLICKHOUSE_CLOUD, 'Pipe', CLOUD_KAFKA.map((field) => `source.kafka.${field}`)],
    [
      'text',
      DEFAULT,
      'Pipe',
      ['source.kafka.caCertificate.secretRef.name', 'constructor', 'source.toString.x'],
    ],
  ])('is %s by its declaration', (form, profile, kind, fields) => {
    for (const field of fields)
      expect.soft(textFormAt(profile, kind, ['spec', ...field.split('.')]), field).toBe(form)
  })

  const CERTIFICATE = armored('CERTIFICATE')
  test.each([
    ['a certificate', 'kafka', { caCertificate: CERTIFICATE }, []],
    ['a certificate of age', 'kafka', { caCertificate: armored('AGE ENCRYPTED FILE') }, ['unresolved']],
    ['a certificate of PGP', 'kafka', { caCertificate: armored('PGP MESSAGE') }, ['unresolved']],
    [
      'a certificate with half a character',
      'kafka',
      { caCertificate: `${CERTIFICATE}\ud83d` },
      ['unseen-character'],
    ],
    ['a delimiter', 'objectStorage', { delimiter: '\u0001' }, []],
    ['a delimiter of white space', 'objectStorage', { delimiter: '\t\n ' }, []],
    ['a delimiter of half a character', 'objectStorage', { delimiter: '\ud83d' }, ['unseen-character']],
  ])('has what it may have: %s', (_why, source, fields, codes) => {
    const text = pipe('a').replace(/source: .*/, () => `source: {${source}: ${JSON.stringify(fields)}}`)
    expect(findingsOf(parse(text)).map(({ code }) => code)).toEqual(codes)
  })

  test.each([
    ['partitionBy', 'toYYYYMM((ts))\n', []],
    ['partitionBy', '((ts))', []],
    ['sortingKey', ['((id))', '(a,\tb)'], []],
    ['sortingKey', ['id\t'], ['unseen-character']],
    ['sortingKey', ['a\nb'], ['unseen-character']],
    ['partitionBy', 'a\0b', ['unseen-character']],
    ['partitionBy', '<path:secret/a#b>', ['unresolved']],
  ])('is SQL over several lines', (field, sql, codes) => {
    const text = pipe('a').replace(
      'table: t,',
      () => `table: t, tableDefinition: {${field}: ${JSON.stringify(sql)}},`,
    )
    expect(findingsOf(parse(text)).map(({ code }) => code)).toEqual(codes)
  })
})

const labelled = (labels: string) =>
  ALERT.replace('name: ingest-lag', `name: ingest-lag\n  labels: ${labels}`)

const suspended = (reason: string) =>
  PIPE.replace('interval: 10m', `suspend: {reason: ${JSON.stringify(reason)}, until: "2027-01-31T00:00:00Z"}`)
const alert = (field: string, text: string) =>
  `apiVersion: pipewright/v1\nkind: Alert\nmetadata: {name: a}\nspec: {id: a, expect: {${field}: ${JSON.stringify(text)}}}\n`
const origins = (text: string) => ENDPOINT.replace(/allowedOrigins: .*/, () => `allowedOrigins: ${text}`)
const columns = (type: string) => pipe('a').replace('type: UInt64', () => `type: ${JSON.stringify(type)}`)
const sourceField = (name: string) =>
  pipe('a').replace('sourceField: id', () => `sourceField: ${JSON.stringify(name)}`)

describe('a text that was valid before stays valid', () => {
  test.each([
    ['origins in a folded block', origins('>\n    https://a.example,\n    https://b.example\n'), []],
    ['origins in a literal block', origins('|\n    https://a.example,\n    https://b.example\n'), []],
    ['origins with NUL', origins('"https://a.example\\0"'), ['unseen-character']],
    ['origins that turn', origins('https://a.example\u200f'), ['unseen-character']],
    ['origins that are a placeholder', origins('CHANGEME'), ['unresolved']],
    ['a type over several lines', columns('Tuple(\n  x String,\n  y String\n)\n'), []],
    ['a type with an unseen character', columns('UInt64\u200b'), ['unseen-character']],
    ['a type that is a placeholder', columns('<TYPE>'), ['unresolved']],
    ['a type in parentheses', columns('((UInt64))'), []],
    ['origins in parentheses', origins('((origins))'), ['unresolved']],
    [
      'origins of which one is encrypted',
      origins('"https://a.example, ENC[AES256_GCM,data:Zm9v]"'),
      ['unresolved'],
    ],
    ['a field with a blank first', sourceField(' amount'), []],
    ['a field with blanks on both sides', sourceField(' amount\t'), []],
    ['a field with the mark of its file', sourceField('\ufeffamount'), []],
    ['a field with a line break', sourceField('amount\n'), ['unseen-character']],
    ['a field with half a character', sourceField('\ud83d'), ['unseen-character']],
    ['a field of another tool', sourceField('((x))'), ['unresolved']],
    ['a field with the name of a placeholder', sourceField('<key>'), []],
    ['a field with a word of a placeholder', sourceField('change_me'), []],
    ['a reason with a word in brackets', suspended('waits for <TEAM>'), []],
    ['a reason of one word', suspended('CHANGEME'), []],
    ['a reason in a block', suspended('waits\nfor a team\n'), []],
    ['a reason that is encrypted', suspended('ENC[AES256_GCM,data:Zm9v]'), ['unresolved']],
    ['a message with a link', alert('message', '<https://runbook.example/orders|Runbook>'), []],
    ['a message that is a link', alert('message', '<https://runbook.example/orders>'), []],
    ['a message that looks like a placeholder', alert('message', '<TEAM>'), []],
    ['a message of a secret manager', alert('message', '<path:secret/data/a#b>\n'), ['unresolved']],
    ['a name of an alert that exists', alert('name', ' Disk <90 and >10> '), []],
    ['a label', labelled('{a: CHANGEME}'), []],
  ])('%s', (_what, text, codes) => {
    expect(findingsOf(parse(text)).map(({ code }) => code)).toEqual(codes)
  })
})

/** A pattern that reads on from each of them takes seconds. */
const OPENINGS =
  '{{ {% <% <%= ${a $(a $A { {# \u200d 0 -0 \n ENC[A ENC[A, <path:a <a < ref+a op:// vault:a/ vault: ((a (( #{a change- ' +
  '@Microsoft.KeyVault( $ANSIBLE_VAULT; <<<<<<< ======= __ ://'

test.each(['  ', '{{ a', 'a  b', '\n<<<<<<<', ...OPENINGS.split(' ')])(
  '64 kB of %j are looked at once',
  (opening) => {
    const text = opening.repeat(2 ** 16 / opening.length)
    const texts = [text, `${opening}${'a'.repeat(2 ** 16)}`, `<${text}`, `((${text}`, `ENC[A,${text}`]
    const cost = cpuMsOf(() => {
      for (const form of ['text', 'block', 'lines', 'foreign', 'raw', 'ordered', 'comma-list'] as const)
        textFindings(texts, () => form, 100)
      causeOfBrokenText([{ ...UNRESOLVED, range: { start: 2 ** 15, end: 2 ** 16 } }], text)
    })
    expect(cost).toBeLessThan(1_500)
  },
)

describe('what another tool should have replaced', () => {
  const REPLACED = `
    ENC[AES256_GCM,data:Zm9v,iv:abc=,tag:def=,type:str]
    <path:secret/data/kafka#topic>   <path:secret/data/kafka#topic | base64decode>
    <KAFKA_TOPIC>   <your topic>   CHANGEME   change-me   REPLACE_ME   #{KafkaTopic}#
    ref+vault://secret/kafka#/topic   ref+awsssm://kafka/topic
    op://vault/kafka/topic   op://team/My login/password
    ((kafka-topic))   ((vault:kafka.topic))   $ANSIBLE_VAULT;1.1;AES256
    @Microsoft.KeyVault(SecretUri=https://v.example/secrets/a)
    vault:secret/data/kafka#topic   >>vault:secret/data/kafka#topic`

  test.each(textsOf(REPLACED))('is one error: %s', (text) => {
    expect(findingsOf(parse(withTopics(text)))).toMatchObject([{ code: 'unresolved', line: 15 }])
    const secret = PIPE.replace(/password: .*/, () => `password: ${JSON.stringify(text)}`)
    expect(errorsOf(secret)).toEqual(['unresolved 18'])
  })

  const MEANT = `
    enc   ENC   enc[0]   orders(eu)   a((b))c   __consumer_offsets   __DELETED__   CHANGE-ME-svc   orders <EU>
    <https://runbook.example/orders|Runbook>   see ENC[AES256_GCM,data:a]   vault://a is down   changes
    exchange-me.orders   unchangeme   op   vault   ref+x   todo   a < b   a<b   @orders`

  test('is not', () => {
    const urls = ['a(1)/((b))/*.json', '{a,b}/**/[0-9]?.json'].map((path) => `https://bucket.example/${path}`)
    const sources = [...urls, 'https://vault.example:8200/op://x'].map((url) => ({ objectStorage: { url } }))
    const texts = [
      ...textsOf(MEANT).map(withTopics),
      ...sources.map((source) => pipe('a').replace(/source: .*/, () => `source: ${JSON.stringify(source)}`)),
    ]
    expect(texts.flatMap((text) => errorsOf(text).map((error) => [text, error]))).toEqual([])
  })

  test('a broker that is named like a tool', () => {
    expect(errorsOf(PIPE.replace('b-1:9092,b-2:9092', 'vault:9092,op:9092'))).toEqual([])
  })

  test.each([
    ['SOPS', `${PIPE}sops:\n  mac: ENC[AES256_GCM,data:a,iv:b,tag:c,type:str]\n  version: 3.8.1\n`, 32],
    [
      'SOPS, with every value',
      'apiVersion: ENC[AES256_GCM,data:a]\nkind: ENC[AES256_GCM,data:a]\nsops:\n  mac: a\n',
      3,
    ],
    ['git-crypt', Buffer.from('\0GITCRYPT\0\u00e4\u00ff', 'latin1'), 1],
    ['Git LFS', 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n', 1],
    ['git-annex', '/annex/objects/SHA256E-s1--abc.yaml\n', 1],
    ['Ansible Vault', '$ANSIBLE_VAULT;1.1;AES256\n6162\n', 1],
    ['age', '-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n', 1],
    ['age, binary', Buffer.from('age-encryption.org/v1\n-> X25519 \u00ff', 'latin1'), 1],
    ['PGP', '-----BEGIN PGP MESSAGE-----\n\nabc\n', 1],
  ])('a whole file of %s has this finding only', (_tool, file, line) => {
    expect(findingsOf(parse(file)).map((finding) => `${finding.code} ${finding.line}`)).toEqual([
      `unresolved ${line}`,
    ])
    expect(findingsOf(parse(file))[0]?.hint).not.toMatch(/remove|save|delete|begin/i)
  })

  test('such a file is not whole, a text about it is no such file', () => {
    expect(parse('version https://git-lfs.github.com/spec/v1\n').whole).toBe(false)
    expect(errorsOf(`# version https://git-lfs.github.com/spec/v1\n${PIPE}`)).toEqual([])
  })
})

describe('names and numbers that other programs read otherwise', () => {
  test('a field that would be dropped without a word is an error, once', () => {
    expect(errorsOf(labelled('{__proto__: {a: b}}'))).toEqual(['unknown-field 5'])
    expect(errorsOf(labelled('{"__proto__": a, b: c}'))).toEqual(['unknown-field 5'])
    const lock = 'apiVersion: pipewright/v1\nkind: Lock\nmetadata: {name: a}\nspec: {pipes: {__proto__: x}}\n'
    expect(errorsOf(lock, 'a.lock.yaml')).toEqual(['unknown-field 4'])
  })

  test('a label can have the name of a method', () => {
    const labels = { constructor: 'a', toString: 'b', hasOwnProperty: 'c', valueOf: 'd' }
    const [document] = parse(labelled(JSON.stringify(labels))).documents
    expect(document?.findings).toEqual([])
    expect({ ...document?.manifest?.metadata.labels }).toEqual(labels)
  })

  test.each([
    ['yaml-style 31', '010 00 010.0 010e0'],
    ['wrong-type 31', '1_000 .inf yes 2026-01-31'],
    ['out-of-range 31', '-010'],
    ['', '0e0 0 10 0o10 0x10 1e1'],
  ])('numbers with the error "%s"', (error, numbers) => {
    const found = numbers.split(' ').map((number) => PIPE.replace('replicas: 2', `replicas: ${number}`))
    expect(new Set(found.map((text) => errorsOf(text).join()))).toEqual(new Set([error]))
  })

  test.each(['010', '0o10', '1e3', '.inf', '.nan', 'true', '~'])('no text: %s', (text) => {
    expect(errorsOf(PIPE.replace('topics: orders', `topics: ${text}`))).toEqual(['wrong-type 15'])
  })

  test.each(['yes', 'no', 'on', 'off', '1_000', '2026-01-31', '12:30:45'])('a text: %s', (text) => {
    expect(errorsOf(PIPE.replace('topics: orders', `topics: ${text}`))).toEqual([])
  })

  test.each([
    ['"2026-12-31T10:00:00+0100"', 'Write the zone as Z or +01:00.'],
    ['"2026-12-31T10:00:00+01"', 'Write the zone as Z or +01:00.'],
    ['"2026-12-31T10:00:00"', 'Write the zone as Z or +01:00.'],
  ])('an end of %s', (until, hint) => {
    const text = PIPE.replace('interval: 10m', `suspend: {reason: x, until: ${until}}`)
    expect(findingsOf(parse(text))).toMatchObject([{ code: 'wrong-format', hint }])
  })

  test('a merge key in labels', () => {
    expect(findingsOf(parse(labelled('{<<: {a: b}, z: y}')))).toMatchObject([
      { hint: 'The YAML merge key "<<" is not supported. Write the fields themselves.' },
    ])
  })

  const TWO = `${SERVICE}---\n${ALERT}`
  test.each([
    ['after a mark', TWO.replace('---\n', '---\n\ufeff')],
    ['before a mark', TWO.replace('---\n', '\ufeff---\n')],
    ['on both sides of a mark with a comment', TWO.replace('---\n', '\ufeff--- # next\n\ufeff')],
    ['after the end of a document', TWO.replace('---\n', '...\n\ufeff')],
    ['at the beginning of each', `\ufeff${TWO.replace('---\n', '---\n\ufeff')}`],
  ])('a byte order mark %s is read as one', (_where, text) => {
    expect(findingsOf(parse(text.replaceAll('\n', '\r\n')))).toEqual([])
    expect(findingsOf(parse(text))).toEqual([])
    expect(parse(text).documents.map(({ key }) => key)).toEqual(['Service/analytics', 'Alert/ingest-lag'])
  })
})
