import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { httpServer, type TestServer } from '../platform/support/server.ts'
import {
  alertManifest,
  ENDPOINT,
  head,
  OTHER_SERVICE_ID,
  pipeManifest,
  platformArgs,
  runArgs,
  SERVICE,
  serviceManifest,
} from '../support/manifests.ts'
import { resourcesOf, startProgram, urlOf } from '../support/process.ts'
import { runHere } from '../support/command.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { createTurningClock } from '../support/turning-clock.ts'
import { base64Of, echoingPlatform, REPEATED, THIRD_SERVICE_ID } from './echoing-platform.ts'
import { leaksIn, PLANTED } from './planted.ts'

/* Law 6, in one test: secrets in every place that may hold one, a platform that repeats them, and all that comes out. */

function pipe(name: string, source: string): string {
  return `${head('Pipe', name)}spec:
  service: analytics
  source:
${source}
  destination: {database: default, table: ${name}, columns: [{name: id, type: UInt64}]}
  fieldMappings: [{sourceField: id, destinationField: id}]
`
}

const KAFKA = `    kafka:
      brokers: b-1.example:9092
      topics: t
      caCertificate: ${PLANTED.kafkaCertificate}
      credentials:
        username: ${PLANTED.kafkaUser}
        password: {secretRef: {name: kafka, key: password}}
      schemaRegistry:
        url: https://registry.example
        credentials:
          username: ${PLANTED.registryUser}
          password: {secretRef: {name: registry, key: password}}`

const STORAGE = `    objectStorage:
      url: https://storage.example/x
      connectionString: ${PLANTED.connectionString}
      accessKey:
        accessKeyId: ${PLANTED.accessKeyId}
        secretKey: {secretRef: {name: storage, key: secret}}`

const STREAM = `    managedStream:
      streamName: s
      region: r
      accessKey:
        accessKeyId: ${PLANTED.streamKeyId}
        secretKey: {secretRef: {name: stream, key: secret}}`

const POSTGRES = `    postgres:
      host: db.example
      database: d
      credentials:
        username: ${PLANTED.postgresUser}
        password: {secretRef: {name: postgres, key: password}}`

const coded = (name: string, key = 'coded') =>
  pipe(name, POSTGRES.replace('{name: postgres, key: password}', `{name: postgres, key: ${key}}`))

/** A platform that encodes what it repeats, or cuts it: by the name of the pipe. */
const CODED = ['base64', 'base64url', 'url'] as const

const RETURNED = `    objectStorage:
      url: https://storage.example/x
      connectionString: {secretRef: {name: storage, key: connection}}
      accessKey:
        accessKeyId: {secretRef: {name: storage, key: user}}
        secretKey: {secretRef: {name: storage, key: secret}}`

const SIGNED = `https://acct.example/c?sv=2022&X-Amz-Signature=${PLANTED.queryToken}&sig=${PLANTED.signature}`

function plant(workspace: Workspace, hook: TestServer): void {
  const credentials: Readonly<Record<string, string>> = {
    'analytics-api/keyId': PLANTED.keyId,
    'analytics-api/keySecret': PLANTED.keySecret,
    // of a Service that no manifest describes
    'warehouse-api/keyId': PLANTED.unusedKeyId,
    'warehouse-api/keySecret': PLANTED.unusedKeySecret,
    'alerts/token': PLANTED.alertsToken,
    'admin/token': PLANTED.adminToken,
    'notifications/webhook': `${hook.url}/${PLANTED.webhookPath}?key=${PLANTED.webhookQuery}`,
    'notifications/signing-key': PLANTED.signingKey,
  }
  const secrets: Readonly<Record<string, string>> = {
    'kafka/password': PLANTED.kafkaPassword,
    'registry/password': PLANTED.registryPassword,
    'storage/secret': PLANTED.accessSecret,
    'stream/secret': PLANTED.streamSecret,
    'postgres/password': PLANTED.postgresPassword,
    // what is left of an installation that was not moved
    'left-api/keyId': PLANTED.leftKeyId,
    'left-api/keySecret': PLANTED.leftKeySecret,
    'alerts/token': PLANTED.leftToken,
    'postgres/coded': PLANTED.codedPassword,
    'postgres/edge': PLANTED.edgePassword,
    'kafka/key': `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(30)}\n${PLANTED.pemLine}\n-----END PRIVATE KEY-----`,
    'storage/connection': `DefaultEndpointsProtocol=https;AccountKey=${PLANTED.returnedConnection}`,
    'storage/user': PLANTED.returnedUser,
    ...Object.fromEntries(REPEATED.map(({ name, secret }) => [`${name}/password`, secret])),
  }
  for (const [file, secret] of Object.entries(credentials))
    workspace.write(`credentials/${file}`, `${secret}\n`)
  for (const [file, secret] of Object.entries(secrets)) workspace.write(`secrets/${file}`, `${secret}\n`)
  const wrong = pipe('wrong', KAFKA)
  const manifests: Readonly<Record<string, string>> = {
    service: SERVICE,
    endpoint: ENDPOINT,
    lag: alertManifest('lag', 'alert-1'),
    kafka: pipe('kafka', KAFKA),
    storage: pipe('storage', STORAGE),
    stream: pipe('stream', STREAM),
    postgres: pipe('postgres', POSTGRES),
    rejected: pipe('rejected', KAFKA),
    unclear: pipe('unclear', POSTGRES),
    html: pipe('html', STORAGE),
    literal: wrong.replace('{secretRef: {name: kafka, key: password}}', PLANTED.literalPassword),
    misspelt: pipe('misspelt', KAFKA).replace(
      'password: {secretRef: {name: kafka, key: password}}',
      `pasword: ${PLANTED.misspeltPassword}`,
    ),
    broken: pipe('broken', KAFKA).replace(
      '{secretRef: {name: kafka, key: password}}',
      `"${PLANTED.brokenYaml}\n        x: [`,
    ),
    shape: pipe('shape', KAFKA).replace(
      '{secretRef: {name: kafka, key: password}}',
      `{secretRef: {name: [${PLANTED.wrongShape}], key: ${PLANTED.wrongShape}, ${PLANTED.asName}: 1}}`,
    ),
    returned: pipe('returned', RETURNED),
    edge: coded('edge', 'edge'),
    everything: coded('everything', 'edge'),
    fields: pipe('fields', KAFKA.replace('topics: t', 'topics: t\n      consumerGroup: g')),
    'wrong-id': coded('wrong-id'),
    'wrong-name': coded('wrong-name'),
    pem: pipe('pem', KAFKA.replace(PLANTED.kafkaCertificate, '{secretRef: {name: kafka, key: key}}')),
    odd: alertManifest('odd', 'odd').replace('{id: odd}', '{id: odd, expect: {name: lag, message: m}}'),
    third: serviceManifest({ name: 'third', serviceId: THIRD_SERVICE_ID, secret: 'analytics-api' }),
    'endpoint-of-third': ENDPOINT.replaceAll('analytics', 'third'),
    ...Object.fromEntries(CODED.map((name) => [name, coded(name)])),
    ...Object.fromEntries(
      REPEATED.map(({ name }) => [name, pipeManifest(name).replace('{name: kafka,', `{name: ${name},`)]),
    ),
    signed: pipe('signed', STORAGE).replace('url: https', `urll: ${SIGNED}\n      url: https`),
    'signed-elsewhere': pipe('signed-elsewhere', STORAGE).replace(
      'url: https://storage.example/x',
      `url: x\n      compression: [AccountKey=${PLANTED.accountKey}, "${SIGNED}"]`,
    ),
    'signed-broken': `${pipe('signed-broken', STORAGE)}  x: [${SIGNED}\n`,
    'signed-role': ENDPOINT.replace('[sql_console_read_only]', `["${SIGNED}"]`).replace(
      'name: analytics',
      'name: signed',
    ),
    // what is the platform's, which no manifest can send anywhere
    theft: pipe('theft', POSTGRES).replace(
      '{name: postgres, key: password}',
      '{name: notifications, key: signing-key}',
    ),
    unused: pipe('unused', KAFKA)
      .replace(PLANTED.kafkaUser, '{secretRef: {name: warehouse-api, key: keyId}}')
      .replace('{name: kafka, key: password}', '{name: warehouse-api, key: keySecret}'),
    left: serviceManifest({ name: 'left', serviceId: OTHER_SERVICE_ID, secret: 'left-api' }),
  }
  for (const [name, text] of Object.entries(manifests)) workspace.write(`manifests/${name}.yaml`, text)
}

const PATHS = [
  '/',
  '/metrics',
  '/healthz',
  '/readyz',
  '/api/v1/overview',
  '/api/v1/attention',
  '/api/v1/page',
  '/api/v1/findings?limit=500',
  '/api/v1/timeline?limit=500',
  '/api/v1/history?limit=500',
  '/api/v1/resources?limit=500',
  '/api/v1/resources?q=planted',
]

const COMMANDS: readonly (readonly string[])[] = [
  ['validate', '-o', 'text'],
  ['validate', '-o', 'github'],
  ['validate', '-o', 'sarif'],
  ['plan', '-o', 'json'],
  ['plan', '-o', 'markdown'],
  ['plan'],
  ['status'],
  ['status', 'Pipe/unclear', '-o', 'json'],
  ['status', 'Pipe/unclear'],
  ['validate', '-o', 'compact'],
  ['history', '--limit', '500', '-o', 'json'],
  ['history', '--limit', '500'],
  ...REPEATED.map(({ name }) => ['status', `Pipe/${name}`]),
  ['status', '-o', 'json'],
  ['import', 'Pipe/taken', '00000000-0000-4000-8000-000000000001', '--service', 'analytics'],
  ...REPEATED.map(({ looseId }) => ['import', 'Pipe/loose', looseId, '--service', 'analytics']),
  ['adopt', 'Pipe/pipe-5', REPEATED[3]?.looseId ?? ''],
  ['adopt', 'Pipe/rejected', '00000000-0000-4000-8000-00000000ffff'],
  ['resolve', 'Pipe/unclear', '--retry'],
  ['apply', '--log-level', 'trace'],
]

test('planted secrets come out nowhere', async () => {
  using workspace = createWorkspace()
  await using platform = await echoingPlatform()
  let refusals = 0
  await using hook = await httpServer((response, request) => {
    refusals += 1
    // The first replies repeat the address and all headers, too.
    const status = refusals <= 2 ? 500 : 200
    response.writeHead(status).end(`${PLANTED.signingKey} ${request.url} ${JSON.stringify(request.headers)}`)
  })
  plant(workspace, hook)
  const found: string[] = []
  const masking = new Set<string>()
  let looked = 0
  function look(where: string, text: string): void {
    looked += text.length
    if (text.includes('[secret]')) masking.add(where)
    found.push(...leaksIn(where, text))
  }

  await using program = startProgram(
    runArgs(workspace, platform.url, [
      '--log-level=trace',
      '--interval=1s',
      '--max-creates=100',
      '--public-url=https://p.example',
      `--admin-token-file=${workspace.path('credentials', 'admin', 'token')}`,
      `--webhook-url=file:${workspace.path('credentials', 'notifications', 'webhook')}`,
      `--webhook-secret-file=${workspace.path('credentials', 'notifications', 'signing-key')}`,
    ]),
  )
  const url = await urlOf(program)
  const stream = new AbortController()
  const events = await fetch(`${url}/api/v1/events`, { signal: stream.signal })
  const eventText = textUntilAborted(events)
  const states: Readonly<Record<string, string>> = {
    'Pipe/kafka': 'Ready',
    'Pipe/storage': 'Ready',
    'Pipe/stream': 'Failed',
    'Pipe/postgres': 'Ready',
    'Pipe/returned': 'Ready',
    'Pipe/edge': 'Failed',
    'Pipe/everything': 'Failed',
    'Pipe/fields': 'Drifted',
    'Pipe/wrong-id': 'OutcomeUnknown',
    'Pipe/wrong-name': 'OutcomeUnknown',
    'Pipe/pem': 'Failed',
    'Alert/odd': 'Drifted',
    'QueryEndpoint/third': 'Drifted',
    ...Object.fromEntries(CODED.map((name) => [`Pipe/${name}`, 'Failed'])),
    ...Object.fromEntries(REPEATED.map(({ name, status }) => [`Pipe/${name}`, status])),
    'Pipe/rejected': 'Failed',
    'Pipe/unclear': 'OutcomeUnknown',
    'Pipe/html': 'OutcomeUnknown',
    'Pipe/misspelt': 'Invalid',
    'Pipe/theft': 'Refused',
    'Pipe/unused': 'Refused',
    'Service/left': 'Refused',
    'Alert/lag': 'Failed',
    'QueryEndpoint/analytics': 'Failed',
  }
  const settled = async () => {
    const items = await resourcesOf(url)
    return Object.entries(states).every(([key, status]) =>
      items.some((item) => item.key === key && item.status === status),
    )
  }
  await until('every pipe to be where it belongs', settled).catch(async (error: unknown) => {
    const items = (await resourcesOf(url)).map(({ key, status, message }) => `${key} ${status} ${message}`)
    throw new Error(items.join('\n'), { cause: error })
  })
  // The old key goes on to be repeated when there is a new one.
  workspace.write('credentials/analytics-api/keySecret', PLANTED.newKeySecret)
  const newKey = base64Of(`${PLANTED.keyId}:${PLANTED.newKeySecret}`)
  const asked = () => platform.requests.filter(({ headers }) => headers.authorization === `Basic ${newKey}`)
  await until('every pipe to be asked for with the new key', () => asked().length > 20)
  for (const token of ['wrong', PLANTED.adminToken]) {
    const reply = await fetch(`${url}/-/reconcile`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ key: 'Pipe/kafka' }),
    })
    look('the reply to a request to reconcile', await reply.text())
  }
  // One message tells of all rejected creates, and names only those that failed by then.
  const toldOf = (words: string) => hook.requests.some(({ body }) => body.includes(words))
  await until('the messages', () => refusals > 2 && toldOf('Creating the pipe failed'))
  const ofKeys = Object.keys(states).flatMap((key) => [
    `/api/v1/resources/${key}`,
    `/api/v1/resources/${key}/manifest`,
  ])
  for (const path of [...PATHS, ...ofKeys]) {
    const reply = await fetch(url + path)
    // there is no valid manifest of what never had one
    expect(path.endsWith('/manifest') ? [200, 404] : [200], path).toContain(reply.status)
    look(path, await reply.text())
  }
  stream.abort()
  look('the live events', await eventText)
  for (const { body } of hook.requests) look('a notification', body)

  const theirs = [
    'keyId',
    'keySecret',
    'newKeySecret',
    'unusedKeyId',
    'unusedKeySecret',
    'signingKey',
    'alertsToken',
    'adminToken',
  ] as const
  for (const { body } of platform.requests)
    for (const name of theirs) expect(body, name).not.toContain(PLANTED[name])

  program.signal('SIGTERM')
  expect(await program.ended).toBe(0)
  look('the log', program.stdout())
  look('the standard error', program.stderr())
  expect(program.stdout()).toContain('you sent')

  // Who never read a secret that was replaced cannot know it.
  platform.forget()
  const clock = createTurningClock()
  let imported = ''
  for (const command of COMMANDS) {
    const args = [...command, ...platformArgs(workspace, platform.url), '--api-budget', '1000/1s']
    const { stdout, stderr } = await runHere(args, {}, { clock })
    look(command.join(' '), stdout + stderr)
    imported += command[0] === 'import' ? stdout : ''
  }
  for (const wrong of [`https://user:${PLANTED.settingsUrl}@a.example`, `ftp://${PLANTED.settingsUrl}@x?y`]) {
    const { code, stdout, stderr } = await runHere(['run', '--base-url', wrong])
    expect(code).toBe(64)
    look('a fault of the settings', stdout + stderr)
  }
  expect(imported).toContain('#   spec.sshTunnel\n')
  const kept = readdirSync(workspace.dir).filter((name) => name.startsWith('ledger.db'))
  expect(kept).toContain('ledger.db')
  for (const name of kept) look(name, readFileSync(workspace.path(name), 'latin1'))
  const exported = workspace.path('exported.ndjson')
  await runHere(['ledger', 'export', exported, '--ledger', `sqlite:${workspace.path('ledger.db')}`])
  look('the exported ledger', readFileSync(exported, 'utf8'))

  expect(found).toEqual([])
  expect(looked).toBeGreaterThan(200_000)
  const masked = [
    'the log',
    'ledger.db',
    'the exported ledger',
    'a notification',
    'plan -o json',
    'status -o json',
  ]
  const told = ['history --limit 500 -o json', '/api/v1/resources?limit=500', '/api/v1/history?limit=500']
  expect([...masking]).toEqual(expect.arrayContaining([...masked, ...told]))
})

test('the search finds what it looks for', () => {
  const secret = PLANTED.kafkaPassword
  const forms = [
    secret,
    secret.slice(0, 14),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('hex'),
    JSON.stringify({ secret }),
    Buffer.from(`${PLANTED.keyId}:${PLANTED.keySecret}`).toString('base64'),
  ]
  for (const form of forms) expect(leaksIn('x', `before ${form} after`), form).not.toEqual([])
  expect(leaksIn('x', 'nothing of it')).toEqual([])
})

async function textUntilAborted(reply: Response): Promise<string> {
  let text = ''
  try {
    for await (const chunk of reply.body ?? []) text += Buffer.from(chunk).toString('utf8')
  } catch {
    // aborted, as wanted
  }
  return text
}
