import type { ServerResponse } from 'node:http'
import { ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'
import { httpServer, type Received, type TestServer } from '../platform/support/server.ts'

/**
 * A platform that says everything it was told: each reply repeats the credentials and the body of the request, in
 * messages and in fields where none belongs. What it does hangs on the name of the pipe.
 */
export async function echoingPlatform(): Promise<TestServer> {
  const pipes = new Map<string, { readonly name: string }>()
  let made = 0
  return httpServer((response, request) => {
    const told = `you sent ${request.body} with ${String(request.headers.authorization)}`
    if (request.url.includes('/alerts/')) return reply(response, 400, { message: told })
    if (request.url.endsWith('/serviceQueryEndpoint')) return reply(response, 422, { error: told })
    if (request.method === 'GET') {
      const pipe = pipes.get(request.url.split('/').at(-1) ?? '')
      if (pipe === undefined) return reply(response, 404, { error: told })
      if (pipe.name === 'postgres')
        return reply(response, 200, { result: { ...pipe, state: `In ${sourceOf(pipe)}` } })
      if (pipe.name === 'stream') return reply(response, 500, { error: `cannot read ${sourceOf(pipe)}` })
      return reply(response, 200, { result: pipe })
    }
    return create(response, request, told)
  })

  function create(response: ServerResponse, request: Received, told: string): void {
    const body = JSON.parse(request.body) as { name: string }
    switch (body.name) {
      case 'rejected':
        return reply(response, 400, { error: told })
      case 'base64':
        return reply(response, 400, { error: Buffer.from(told).toString('base64') })
      case 'base64url':
        return reply(response, 400, { error: Buffer.from(`${told}.`).toString('base64url') })
      case 'hex':
        return reply(response, 400, { error: Buffer.from(sourceOf(body)).toString('hex') })
      case 'upper-hex':
        return reply(response, 400, { error: Buffer.from(sourceOf(body)).toString('hex').toUpperCase() })
      case 'upper':
        return reply(response, 400, { error: told.toUpperCase() })
      case 'lower':
        return reply(response, 400, { error: told.toLowerCase() })
      case 'url':
        return reply(response, 400, { error: encodeURIComponent(told) })
      case 'backwards':
        return reply(response, 400, { error: Array.from(told).toReversed().join('') })
      case 'lines':
        return reply(response, 400, { error: told.replaceAll(/.{5}/g, '$&\n') })
      case 'edge':
        return reply(response, 400, { error: edgeOf(told) })
      case 'unclear':
        return reply(response, 500, { error: { message: told } })
      case 'html':
        response.writeHead(502, { 'content-type': 'text/html' })
        response.end(`<html><title>${told}</title><body>${told}</body></html>`)
        return undefined
      default: {
        made += 1
        const id = `00000000-0000-4000-8000-${String(made).padStart(12, '0')}`
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

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ status, requestId: '11111111-2222-4333-8444-555555555555', ...body }))
}
