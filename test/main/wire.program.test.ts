import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FULL_ALERT, FULL_ENDPOINT, FULL_SERVICE, fullPipe, SOURCE_KINDS } from '../kinds/manifests.ts'
import { httpServer } from '../platform/support/server.ts'
import { runHere } from '../support/command.ts'
import { createWorkspace } from '../support/workspace.ts'

const { organizationId, serviceId } = FULL_SERVICE.spec
const SERVICE_PATH = `/base/v1/organizations/${organizationId}/services/${serviceId}`
const SECRETS = {
  'kafka/username': 'wire-kafka-user',
  'kafka/password': 'wire-kafka-password',
  'kafka/ca.crt': '-----BEGIN CERTIFICATE-----\nwire-certificate\n-----END CERTIFICATE-----',
  'aws/id': 'wire-aws-id',
  'aws/secret': 'wire-aws-secret',
  'analytics-api/keyId': 'wire-key-id',
  'analytics-api/keySecret': 'wire-key-secret',
  'alerts/token': 'wire-alerts-token',
} as const

/** Of the platform. */
const OWN: ReadonlySet<string> = new Set(['analytics-api/keyId', 'analytics-api/keySecret', 'alerts/token'])

/** A server that follows `spec/api.md` and is not our sandbox: it echoes what it is asked for. */
async function startPlatform() {
  const server = await httpServer((reply, { url, body: text }) => {
    const body = bodyIn(text)
    const requestId = crypto.randomUUID()
    const result = url.endsWith('/pipes')
      ? { ...body, id: crypto.randomUUID(), serviceId, state: 'Running' }
      : { ...body, id: 'endpoint-1' }
    const answer = url.startsWith('/alerts')
      ? { data: FULL_ALERT.spec.expect }
      : { status: 200, requestId, result }
    reply.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer))
  })
  return {
    url: server.url,
    get requests() {
      return server.requests.map(({ url: path, body, ...request }) => ({
        ...request,
        path,
        body: bodyIn(body),
      }))
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

function bodyIn(text: string): Record<string, unknown> | undefined {
  return text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>) // as we send it
}

/** The body that the interface asks for: what the manifest sets, and secrets in the place of their references. */
function onTheWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(onTheWire)
  if (typeof value !== 'object' || value === null) return value
  if ('secretRef' in value) {
    const { name, key } = value.secretRef as { name: string; key: string }
    return SECRETS[`${name}/${key}` as keyof typeof SECRETS]
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, onTheWire(member)]))
}

function without(value: object, ...names: readonly string[]): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))
}

function applied(workspace: ReturnType<typeof createWorkspace>, url: string, ...flags: readonly string[]) {
  return runHere([
    'apply',
    `--manifests=${workspace.manifests}`,
    `--credentials-dir=${workspace.credentials}`,
    `--secrets-dir=${workspace.secrets}`,
    `--ledger=sqlite:${workspace.path('ledger.db')}`,
    '--log-level=trace',
    `--base-url=${url}/base/`,
    `--alerts-base-url=${url}/alerts`,
    ...flags,
  ])
}

function mountAll(workspace: ReturnType<typeof createWorkspace>): void {
  for (const [name, value] of Object.entries(SECRETS))
    workspace.write(`${OWN.has(name) ? 'credentials' : 'secrets'}/${name}`, `${value}\n`)
}

test('each request has exactly the method, path, headers and body that the interface asks for', async () => {
  using workspace = createWorkspace()
  await using platform = await startPlatform()
  mountAll(workspace)
  const pipes = SOURCE_KINDS.map((kind) => {
    const { metadata, spec, ...rest } = fullPipe(kind)
    const name = kind.toLowerCase()
    return {
      ...without(rest, 'policy'),
      metadata: { ...metadata, name },
      spec: { ...spec, name: `${kind} (live)` },
    }
  })
  const minimal = {
    apiVersion: 'pipewright/v1',
    kind: 'Pipe',
    metadata: { name: 'minimal' },
    spec: { service: 'analytics', source: { kafka: {} } },
  }
  const manifests = [...pipes, minimal, FULL_SERVICE, FULL_ENDPOINT, FULL_ALERT]
  manifests.forEach((manifest, i) => {
    workspace.write(`manifests/${i}.json`, JSON.stringify(manifest))
  })
  const { code, stdout, stderr } = await applied(workspace, platform.url)
  expect(stderr + stdout).toContain('None of 8 needs attention.')
  expect(code).toBe(0)

  const basic = `Basic ${Buffer.from('wire-key-id:wire-key-secret').toString('base64')}`
  const sent = platform.requests.map(({ method, path, body }) => ({ method, path, body }))
  const wanted = [
    ...[...pipes, { spec: { ...minimal.spec, name: 'minimal' } }].map(({ spec }) => ({
      method: 'POST',
      path: `${SERVICE_PATH}/pipes`,
      body: onTheWire(without(spec, 'service')),
    })),
    {
      method: 'POST',
      path: `${SERVICE_PATH}/serviceQueryEndpoint`,
      body: without(FULL_ENDPOINT.spec, 'service'),
    },
    { method: 'GET', path: `/alerts/api/v2/alerts/${FULL_ALERT.spec.id}`, body: undefined },
  ]
  expect(sent).toHaveLength(wanted.length)
  expect(sent).toEqual(expect.arrayContaining(wanted))

  for (const { headers, method, path } of platform.requests) {
    expect(headers.authorization).toBe(path.startsWith('/alerts') ? 'Bearer wire-alerts-token' : basic)
    expect(headers['content-type']).toBe(method === 'POST' ? 'application/json' : undefined)
    expect(headers['idempotency-key'] !== undefined).toBe(path.endsWith('/pipes'))
  }
  expect(JSON.stringify(sent)).not.toContain('secretRef')
  for (const secret of Object.values(SECRETS)) expect(stdout + stderr).not.toContain(secret)
  expect(stdout + stderr).not.toContain('hunter2')
})

test('what has no manifest any more is not deleted, nor written to in any other way', async () => {
  using workspace = createWorkspace()
  await using platform = await startPlatform()
  mountAll(workspace)
  workspace.write('manifests/service.json', JSON.stringify(FULL_SERVICE))
  workspace.write('manifests/endpoint.json', JSON.stringify(FULL_ENDPOINT))
  for (const kind of SOURCE_KINDS) {
    const { policy: _, spec, ...pipe } = fullPipe(kind)
    const name = kind.toLowerCase()
    workspace.write(
      `manifests/${kind}.json`,
      JSON.stringify({ ...pipe, metadata: { name }, spec: { ...spec, name } }),
    )
  }
  const before = await applied(workspace, platform.url)
  expect(before.stdout).toContain('None of 6 needs attention.')
  const written = platform.requests.filter(({ method }) => method !== 'GET').length
  expect(written).toBe(SOURCE_KINDS.length + 1)

  for (const name of ['endpoint', ...SOURCE_KINDS]) rmSync(workspace.path(`manifests/${name}.json`))
  const after = await applied(workspace, platform.url, '--yes')
  expect(after.stdout + after.stderr).toContain('Orphaned')
  expect(platform.requests.filter(({ method }) => method !== 'GET')).toHaveLength(written)
})
