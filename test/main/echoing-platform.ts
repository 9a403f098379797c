import type { ServerResponse } from 'node:http'
import { ORGANIZATION, pipeBody, SERVICE_ID } from '../support/manifests.ts'
import { httpServer, type Received, type TestServer } from '../platform/support/server.ts'

export const THIRD_SERVICE_ID = '99999999-8888-4777-8666-555555555555'

/** A place of a reply to a reading that repeats the secret of the pipe, and the status of the pipe then. */
type Place = readonly [is: string, status: string, read: (pipe: object, secret: string) => Answer]

interface Answer {
  readonly status?: number
  readonly statusMessage?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly requestId?: string
  readonly body: unknown
}

const found = (pipe: object, more: object = {}): Answer => ({ body: { result: { ...pipe, ...more } } })
const said = (secret: string, status = 200) => ({
  status,
  headers: headersWith(secret),
  statusMessage: secret,
})

const PLACES: readonly Place[] = [
  ['a state', 'Ready', (pipe, secret) => found(pipe, { state: secret })],
  ['a state that is a part of it', 'NotReady', (pipe) => found(pipe, { state: 'Degraded' })],
  ['a word of a state', 'Progressing', (pipe, secret) => found(pipe, { state: `Waiting for ${secret}` })],
  [
    'a field',
    'Drifted',
    (pipe, secret) => found(pipe, { source: { kafka: { brokers: secret, topics: [secret] } } }),
  ],
  [
    'the name of an item',
    'Drifted',
    (pipe, secret) => found(pipe, { fieldMappings: [{ sourceField: secret, destinationField: secret }] }),
  ],
  ['an unknown field', 'Ready', (pipe, secret) => found(pipe, { [secret]: { [secret]: secret } })],
  ['the name of the pipe', 'Drifted', (pipe, secret) => found(pipe, { name: secret })],
  ['an error', 'Failed', (_pipe, secret) => ({ status: 400, body: { error: secret } })],
  ['a page', 'Failed', (_pipe, secret) => ({ status: 502, body: `<title>${secret}</title>${secret}` })],
  ['no JSON', 'Failed', (pipe, secret) => ({ body: `{"result": ${JSON.stringify(pipe)}, ${secret}` })],
  ['the headers of a success', 'Ready', (pipe, secret) => ({ ...found(pipe), ...said(secret) })],
  ['the headers of a redirect', 'Failed', (_pipe, secret) => ({ ...said(secret, 302), body: '' })],
  ['the headers of a fault', 'Failed', (_pipe, secret) => ({ ...said(secret, 503), body: '' })],
  ['the encoding', 'Ready', (pipe, secret) => ({ ...found(pipe), headers: { 'content-encoding': secret } })],
  ['the id of the request', 'Ready', (pipe, secret) => ({ ...found(pipe), requestId: secret })],
  [
    'the id of a failed request',
    'Failed',
    (pipe, secret) => ({ status: 500, requestId: secret, body: { result: pipe } }),
  ],
  ['the id of the pipe', 'Failed', (pipe, secret) => found(pipe, { id: secret })],
]

function headersWith(secret: string): Readonly<Record<string, string>> {
  const names = 'retry-after location server x-request-id www-authenticate age date via'.split(' ')
  return Object.fromEntries(names.map((name) => [name, secret]))
}

/** Pipes that are repeated in one place each. A state that stands in a secret decides all the same. */
export const REPEATED = PLACES.map(([is, status, read], at) => ({
  is,
  status,
  read,
  name: `pipe-${at}`,
  id: idOf(300 + at).id,
  /** Of a pipe that no manifest has, and whose replies repeat the same. */
  looseId: idOf(500 + at).id,
  secret: at === 1 ? 'Snapshot!Degraded!7' : `Hq7/kV2"xe${at}-Lm4Zr5t`,
}))

/** In unknown fields of theirs: a secret that Pipewright does not send. */
export const STRANGE_SECRET = 'strange-Kx93vQ'
const STRANGE = { passkey: STRANGE_SECRET, sshTunnel: { auth: STRANGE_SECRET, hops: [STRANGE_SECRET] } }

/** @returns whether it was about one of them */
function answerRepeated(response: ServerResponse, { method, url, body }: Received): boolean {
  const name = /"name":"(pipe-\d+)"/.exec(body)?.[1]
  const asked = url.split('/').at(-1) ?? ''
  const one = REPEATED.find((each) => each.name === name || [each.id, each.looseId].includes(asked))
  if (one === undefined) return false
  const own = { organizationId: ORGANIZATION, serviceId: SERVICE_ID, state: 'Running', ...STRANGE }
  const pipe = { ...pipeBody(one.name), ...own, id: method === 'POST' ? one.id : asked }
  const told = method === 'POST' ? found(pipe) : one.read(pipe, one.secret)
  const { status = 200, statusMessage = '', headers, requestId = REQUEST_ID } = told
  response.writeHead(status, statusMessage, { 'content-type': 'application/json', ...headers })
  response.end(
    typeof told.body === 'string'
      ? told.body
      : JSON.stringify({ status, requestId, ...(told.body as object) }), // it is one else
  )
  return true
}

/**
 * A platform that says everything it was told: each reply repeats the credentials and the body of the request, in
 * messages and in fields where none belongs. What it does hangs on the name of the pipe.
 */
export async function echoingPlatform(): Promise<TestServer & { readonly forget: () => void }> {
  const pipes = new Map<string, { readonly name: string }>()
  let made = 0
  /** All that was ever sent, by whomever. */
  const everything = new Set<string>()
  const server = await httpServer((response, request) => {
    if (answerRepeated(response, request)) return undefined
    const told = `you sent ${request.body} with ${String(request.headers.authorization)}`
    everything.add(`${told} ${keyOf(request)}`.replaceAll(/\W*(?:Basic|Bearer|["{}:])\W*/g, ' '))
    if (request.url.endsWith('/alerts/odd')) return reply(response, 200, { data: oddAlert(told) })
    if (request.url.includes('/alerts/')) return reply(response, 400, { message: told })
    if (request.url.includes(THIRD_SERVICE_ID) && request.url.endsWith('/serviceQueryEndpoint'))
      return reply(response, 200, {
        result: { id: told, roles: [told], openApiKeys: [told], allowedOrigins: told },
      })
    if (request.url.endsWith('/serviceQueryEndpoint')) return reply(response, 422, { error: told })
    if (request.method === 'GET') {
      const pipe = pipes.get(request.url.split('/').at(-1) ?? '')
      if (pipe === undefined) return reply(response, 404, { error: told })
      if (pipe.name === 'postgres')
        return reply(response, 200, { result: { ...pipe, state: `In ${sourceOf(pipe)}` } })
      if (pipe.name === 'everything') return reply(response, 500, { error: [...everything].join(' ') })
      if (pipe.name === 'fields')
        return reply(response, 200, { result: withEchoes(pipe, told) }, keyOf(request))
      if (pipe.name === 'stream') return reply(response, 500, { error: `cannot read ${sourceOf(pipe)}` })
      return reply(response, 200, { result: pipe })
    }
    return create(response, request, told)
  })
  return { ...server, forget: () => everything.clear() }

  function create(response: ServerResponse, request: Received, told: string): void {
    const body = JSON.parse(request.body) as { name: string }
    switch (body.name) {
      case 'rejected':
        return reply(response, 400, { error: told })
      case 'base64':
        return reply(response, 400, { error: Buffer.from(told).toString('base64') })
      case 'base64url':
        return reply(response, 400, { error: Buffer.from(`${told}.`).toString('base64url') })
      case 'url':
        return reply(response, 400, { error: encodeURIComponent(told) })
      case 'edge':
        return reply(response, 400, { error: edgeOf(told) })
      case 'pem':
        return reply(response, 400, { error: `bad line ${/MII\w+/.exec(told)?.[0]}` })
      case 'wrong-id':
        return reply(response, 200, { result: { id: sourceOf(body) } }, keyOf(request))
      case 'wrong-name':
        return reply(response, 200, { result: { ...idOf(9_999), serviceId: keyOf(request), name: told } })
      case 'unclear':
        return reply(response, 500, { error: { message: told } })
      case 'html':
        response.writeHead(502, { 'content-type': 'text/html' })
        response.end(`<html><title>${told}</title><body>${told}</body></html>`)
        return undefined
      default: {
        made += 1
        const { id } = idOf(made)
        // All that was asked for, credentials included, and more where nobody looks for it.
        const pipe = {
          ...body,
          id,
          organizationId: ORGANIZATION,
          serviceId: SERVICE_ID,
          state: 'Running',
          note: told,
        }
        pipes.set(id, pipe)
        return reply(response, 200, { result: { ...pipe, state: `Waiting for ${sourceOf(body)}` } })
      }
    }
  }
}

function sourceOf(body: object): string {
  return 'source' in body ? JSON.stringify(body.source) : ''
}

/** So long that what was sent begins shortly before the place where the text is cut. */
function edgeOf(told: string): string {
  const secret = /edge-[\w-]+/.exec(told)?.[0] ?? ''
  return `${'x '.repeat(1_019)}${secret} and more of it`
}

function idOf(number: number): { readonly id: string } {
  return { id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}` }
}

/** What it was asked with. */
function keyOf({ headers }: Received): string {
  return String(headers.authorization).replace(/^\w+ /, '')
}

/** A pipe that says other than was asked for, in fields of every kind, and in the names of items. */
function withEchoes(pipe: object, told: string): object {
  const column = { name: told, type: told }
  return {
    ...pipe,
    createdAt: told,
    organizationId: base64Of(told),
    source: { kafka: { topics: told, consumerGroup: base64Of(told), [told]: told } },
    destination: { columns: [column], tableDefinition: { partitionBy: encodeURIComponent(told) } },
    fieldMappings: [{ sourceField: told, destinationField: told }],
    scaling: { replicas: told },
    [told]: told,
  }
}

function oddAlert(told: string): object {
  return { id: 'odd', name: told, message: told, state: told, channel: { type: told, webhookId: told } }
}

export function base64Of(text: string): string {
  return Buffer.from(text).toString('base64')
}

const REQUEST_ID = '11111111-2222-4333-8444-555555555555'

function reply(response: ServerResponse, status: number, body: object, requestId = REQUEST_ID): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ status, requestId, ...body }))
}
