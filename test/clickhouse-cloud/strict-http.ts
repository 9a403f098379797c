import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listenHere } from '../support/listen-here.ts'
import { createStrictServer, type StrictOptions, type StrictServer } from './strict-server.ts'

/* The strict server over HTTP, for other processes. */

export interface StrictHttp extends AsyncDisposable {
  readonly url: string
}

export async function startStrictServer(options: StrictOptions): Promise<StrictServer & StrictHttp> {
  const strict = createStrictServer(options)
  const server = createServer((asked, response) => {
    const { method = '', url: path = '', headers } = asked
    const serve = async () => {
      const { status, type, text } = strict.answer({ method, path, headers, content: await buffer(asked) })
      response.writeHead(status, { 'content-type': type }).end(text)
    }
    // one that goes away before its end is nobody's business here
    serve().catch(() => response.destroy())
  })
  const port = await listenHere(server)
  return {
    ...strict,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
