import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isObject } from '../../src/lib/json.ts'

/** The YAML language server as an editor runs it: a child process, spoken to over its standard streams. */
export type LanguageServer = Awaited<ReturnType<typeof startLanguageServer>>

/** Milliseconds. */
const LIMIT = 60_000

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

/** Starts the server below `root` and says hello. */
export async function startLanguageServer(root: string) {
  const program = fileURLToPath(
    new URL('../../node_modules/yaml-language-server/bin/yaml-language-server', import.meta.url),
  )
  const child = spawn(process.execPath, [program, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const answers = new Map<number, (message: Message) => void>()
  const notices: Message[] = []
  const waiting = new Set<() => void>()
  let next = 0

  function send(message: object): void {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  }

  function receive(message: Message): void {
    if (message.method === undefined) return answers.get(Number(message.id))?.(message)
    // The server asks for settings and capabilities; it has what it needs by default.
    if (message.id !== undefined) return send({ id: message.id, result: defaultsFor(message) })
    notices.push(message)
    for (const look of waiting) look()
  }

  readMessages(child.stdout, receive)

  const server = {
    tell: (method: string, params: object) => send({ method, params }),
    /** Sends a request. Rejects with the server's error, and after the limit. */
    ask(method: string, params: object) {
      next += 1
      const id = next
      const answer = new Promise<unknown>((resolve, reject) => {
        answers.set(id, ({ result, error }) =>
          error === undefined ? resolve(result) : reject(new Error(JSON.stringify(error))),
        )
      })
      send({ id, method, params })
      return within(answer, method)
    },
    /** The first notice of that kind for which `wanted` holds, also one that came already. */
    notice(method: string, wanted: (params: unknown) => boolean) {
      const { promise, resolve } = Promise.withResolvers<unknown>()
      const look = () => {
        const found = notices.find((each) => each.method === method && wanted(each.params))
        if (found !== undefined) resolve(found.params)
      }
      waiting.add(look)
      look()
      return within(promise, method).finally(() => waiting.delete(look))
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await gone
    },
  }
  try {
    await server.ask('initialize', { processId: process.pid, rootUri: root, capabilities: CAPABILITIES })
    server.tell('initialized', {})
    return server
  } catch (error) {
    await server[Symbol.asyncDispose]()
    throw error
  }
}

const CAPABILITIES = {
  workspace: { configuration: true },
  textDocument: {
    completion: { completionItem: { snippetSupport: false, documentationFormat: ['markdown'] } },
    hover: { contentFormat: ['markdown'] },
  },
}

/** No schemas from the network. */
const SETTINGS = { schemaStore: { enable: false } }

function defaultsFor({ method, params }: Message): unknown {
  if (method !== 'workspace/configuration' || !isObject(params) || !Array.isArray(params['items']))
    return null
  return params['items'].map((item: unknown) =>
    isObject(item) && item['section'] === 'yaml' ? SETTINGS : {},
  )
}

/** Takes the messages of the Language Server Protocol out of a stream: a header, an empty line, that many bytes. */
function readMessages(stream: NodeJS.ReadableStream, receive: (message: Message) => void): void {
  let rest = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const header = rest.indexOf('\r\n\r\n')
      const length = Number(
        /Content-Length: (\d+)/.exec(rest.toString('latin1', 0, Math.max(0, header)))?.[1],
      )
      if (header < 0 || rest.length < header + 4 + length) return
      const body = rest.toString('utf8', header + 4, header + 4 + length)
      rest = rest.subarray(header + 4 + length)
      receive(JSON.parse(body) as Message) // what the protocol says it is
    }
  })
}

async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The language server did not answer: ${what}.`)), LIMIT)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
