import type { ServerResponse } from 'node:http'
import { HEADERS } from './headers.ts'

/** A reply in JSON by Node alone, as the app would give it: for what must be answered without the app. */
export function reply(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response
    .writeHead(status, {
      ...HEADERS,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
    })
    .end(text)
}
