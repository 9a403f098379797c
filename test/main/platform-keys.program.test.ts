import { existsSync, linkSync, mkdirSync, symlinkSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { httpServer, type Received } from '../platform/support/server.ts'
import { liveOf } from '../support/live.ts'
import {
  CREDENTIAL,
  furnish,
  KAFKA_PASSWORD,
  mountCredential,
  ORGANIZATION,
  OTHER_SERVICE_ID,
  pipeManifest,
  runArgs,
  SERVICE_ID,
  serviceManifest,
} from '../support/manifests.ts'
import { runHere } from '../support/command.ts'
import { urlOf } from '../support/process.ts'
import { startHere } from '../support/program-here.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'

/* Law 6, seen from the wire: a key of the platform is never sent as the password of a source, whatever manifests say. */

const OTHER = { keyId: 'planted-other-id-4c8', keySecret: 'planted-other-secret-b17' } as const
const ADMIN_TOKEN = 'planted-admin-token-6e2'
const WAREHOUSE = serviceManifest({ name: 'warehouse', serviceId: OTHER_SERVICE_ID, secret: 'warehouse-api' })

/** A pipe whose broker is told the key in the secret `name`. */
function thief(key: string, name: string): string {
  return pipeManifest(key)
    .replace('username: reader', `username: {secretRef: {name: ${name}, key: keyId}}`)
    .replace('{name: kafka, key: password}', `{name: ${name}, key: keySecret}`)
}

function platformThatTakes() {
  let made = 0
  return httpServer((response, { method, body }) => {
    made += 1
    const id = `00000000-0000-4000-8000-${String(made).padStart(12, '0')}`
    const result = { ...(JSON.parse(method === 'POST' ? body : '{}') as object), id, state: 'Running' }
    const envelope = {
      status: 200,
      requestId: id,
      result: { ...result, organizationId: ORGANIZATION, serviceId: SERVICE_ID },
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(envelope))
  })
}

function given(): Workspace {
  const workspace = createWorkspace()
  mountCredential(workspace, 'warehouse-api', OTHER)
  furnish(workspace, 'honest')
  return workspace
}

function bodiesOf(requests: readonly Received[]): string {
  return requests.map(({ body }) => body).join('\n')
}

interface Attack {
  readonly prepare: (workspace: Workspace) => void
  /** What the pipe names. */
  readonly secret: string
}

const attacks: Readonly<Record<string, Attack>> = {
  'the key of a Service that no manifest describes': { secret: 'warehouse-api', prepare: () => undefined },
  'the key of a Service whose file is not UTF-8, to a process that never read it otherwise': {
    secret: 'warehouse-api',
    prepare: ({ write }) =>
      write('manifests/warehouse.yaml', Buffer.concat([Buffer.from(WAREHOUSE), Buffer.of(0xff, 0xfe)])),
  },
  'the key of a Service that is there': { secret: 'analytics-api', prepare: () => undefined },
  'a key by hard links of its files, as a second mount of the same folder looks': {
    secret: 'hard-linked',
    prepare({ path }) {
      mkdirSync(path('secrets/hard-linked'))
      for (const key of ['keyId', 'keySecret'])
        linkSync(path('credentials/warehouse-api', key), path('secrets/hard-linked', key))
    },
  },
  'a copy of the token of a setting': {
    secret: 'token',
    prepare: ({ write }) => {
      write('secrets/token/keyId', 'somebody-else')
      write('secrets/token/keySecret', ADMIN_TOKEN)
    },
  },
}

test.each(Object.entries(attacks))('%s is not sent to a broker', async (_why, { secret, prepare }) => {
  using workspace = given()
  prepare(workspace)
  workspace.write('manifests/thief.yaml', thief('thief', secret))
  await using platform = await platformThatTakes()
  workspace.write('admin-token', ADMIN_TOKEN)
  await using program = startHere(
    runArgs(workspace, platform.url, ['--admin-token-file', workspace.path('admin-token')]),
  )
  const live = liveOf(program, await urlOf(program))
  await live.says('Pipe/honest', 'Ready')
  const { message } = await live.says('Pipe/thief', 'SecretUnavailable')
  expect(message).toContain(workspace.path('secrets', secret))
  await live.stop()
  expect(bodiesOf(platform.requests)).toContain(KAFKA_PASSWORD)
  for (const planted of [...Object.values(OTHER), ...Object.values(CREDENTIAL), ADMIN_TOKEN])
    expect(bodiesOf(platform.requests)).not.toContain(planted)
})

test('a Service reads no key out of the secrets of sources, and says where they belong', async () => {
  using workspace = given()
  for (const [key, value] of Object.entries(OTHER)) workspace.write(`secrets/left-api/${key}`, value)
  workspace.write('manifests/left.yaml', WAREHOUSE.replaceAll('warehouse', 'left'))
  workspace.write('manifests/of-left.yaml', pipeManifest('of-left', { service: 'left' }))
  await using platform = await platformThatTakes()
  await using program = startHere(runArgs(workspace, platform.url))
  const live = liveOf(program, await urlOf(program))
  await live.says('Pipe/honest', 'Ready')
  const { message } = await live.says('Service/left', 'SecretUnavailable')
  expect(message).toBe(
    `The credentials "left-api" are in --secrets-dir (${workspace.path('secrets/left-api')}). The platform's credentials belong in ` +
      '--credentials-dir. Pipewright continues automatically when the secret is corrected. ' +
      `Mount the credentials here, then remove them from --secrets-dir: ${workspace.path('credentials/left-api')}.`,
  )
  await live.says('Pipe/of-left', 'SecretUnavailable')
  await live.stop()
  const sent = platform.requests.map(({ headers }) => headers.authorization)
  expect(sent).not.toContain(`Basic ${Buffer.from(`${OTHER.keyId}:${OTHER.keySecret}`).toString('base64')}`)
  expect(new Set(sent).size).toBe(1)
  for (const planted of Object.values(OTHER))
    expect(program.stdout() + program.stderr()).not.toContain(planted)
})

describe('one directory for both', () => {
  test.each([
    ['by name', () => undefined, 'credentials', 'credentials'],
    ['by a link', ({ path }: Workspace) => symlinkSync('credentials', path('alias')), 'credentials', 'alias'],
    [
      'one in the other',
      ({ path }: Workspace) => mkdirSync(path('credentials/sources')),
      'credentials',
      'credentials/sources',
    ],
    [
      'the other in the one, by a link',
      ({ path }: Workspace) => symlinkSync('../credentials', path('secrets/own')),
      'secrets/own',
      'secrets',
    ],
    ['one in the other, where neither is there yet', () => undefined, 'later/all', 'later'],
  ] as const)('is refused at the start: %s', async (_, prepare, credentials, secrets) => {
    using workspace = given()
    prepare(workspace)
    const { code, stderr, stdout } = await runHere([
      ...runArgs(workspace, 'http://127.0.0.1:9', ['--concurrency', '0']),
      '--credentials-dir',
      workspace.path(credentials),
      '--secrets-dir',
      workspace.path(secrets),
    ])
    expect([code, stdout]).toEqual([64, ''])
    // all faults at once
    expect(stderr).toContain('--concurrency')
    expect(stderr).toMatch(
      /--credentials-dir.* (lies inside|are the same directory)|--secrets-dir.* lies inside/,
    )
    expect(existsSync(workspace.path('ledger.db'))).toBe(false)
  })
})

describe('the log says at the start which credentials are in both directories', () => {
  const EXPOSED = 'Credentials are in the secrets directory as well'

  async function warnings(workspace: Workspace) {
    await using platform = await platformThatTakes()
    await using program = startHere(runArgs(workspace, platform.url, ['--interval', '1s']))
    const live = liveOf(program, await urlOf(program))
    await live.says('Pipe/honest', 'Ready')
    await live.reads(() => workspace.write('manifests/more.yaml', pipeManifest('more')))
    await live.says('Pipe/more', 'Ready')
    await live.stop()
    return program
      .log()
      .filter(({ msg }) => msg === EXPOSED)
      .map(({ level, detail }) => ({ level, detail }))
  }

  test('nothing, where all is in its place', async () => {
    using workspace = given()
    expect(await warnings(workspace)).toEqual([])
  })

  test('once', async () => {
    using workspace = given()
    workspace.write('secrets/warehouse-api/keyId', 'x')
    expect(await warnings(workspace)).toEqual([
      {
        level: 'warn',
        detail:
          `The credentials "warehouse-api" are in --credentials-dir (${workspace.credentials}) and in --secrets-dir (${workspace.secrets}) as well. ` +
          'Remove them from --secrets-dir, because a manifest can send each file there to a data source.',
      },
    ])
  })

  test('and when it becomes so', async () => {
    using workspace = given()
    await using platform = await platformThatTakes()
    await using program = startHere(runArgs(workspace, platform.url))
    const live = liveOf(program, await urlOf(program))
    await live.says('Pipe/honest', 'Ready')
    workspace.write('secrets/analytics-api/keyId', 'x')
    await live.reads(() => workspace.write('manifests/more.yaml', pipeManifest('more')))
    await until('the warning', () => program.log().some(({ msg }) => msg === EXPOSED))
    expect(program.log().filter(({ msg }) => msg === EXPOSED)).toHaveLength(1)
    await live.stop()
  })
})

test('the webhook uses no URL out of the secrets of sources', async () => {
  using workspace = given()
  workspace.write('secrets/hooks/url', 'https://planted.example/hook')
  const more = ['--webhook-url', `file:${workspace.path('credentials/hooks/url')}`]
  const { code, stderr } = await runHere(runArgs(workspace, 'http://127.0.0.1:9', more))
  expect(code).toBe(64)
  expect(stderr).toContain(workspace.path('credentials/hooks/url'))
  expect(stderr).toContain('Move it to --credentials-dir')
  expect(stderr).not.toContain('planted')
})
