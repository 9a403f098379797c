import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('proxy-main.ts', import.meta.url))

/** How a proxy behaves from now on; `cut all`, `end all` and `let go` are done once. */
export type ProxyMode =
  | { readonly type: 'pass' }
  | { readonly type: 'refuse'; readonly status: number }
  /** Never answers a CONNECT. */
  | { readonly type: 'hang' }
  /** Ends the connection right after it has answered a CONNECT. */
  | { readonly type: 'cut' }
  /** Holds back what clients send once TLS is made, also when they are gone, until it is to `let go`. */
  | { readonly type: 'late' }
  | { readonly type: 'let go' }
  /** Resets every connection that was joined, or closes it in good order. */
  | { readonly type: 'cut all' | 'end all' }

export interface ProxyOptions {
  /** Host and port as clients name them, and the port on this machine where they are. */
  readonly hosts: Readonly<Record<string, number>>
  /** `user:password`; without it everybody may. */
  readonly login?: string
  readonly tls?: { readonly key: string; readonly cert: string }
  /** Asks clients for a certificate, and takes any and none. */
  readonly requestCert?: boolean
}

export type ProxySaid =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'obeyed' }
  | {
      readonly type: 'asked'
      readonly line: string
      readonly login: string | undefined
      /** Subject of the client's certificate. */ readonly shown: string | undefined
    }
  | { readonly type: 'ended'; readonly how: string }

export type TestProxy = Awaited<ReturnType<typeof startProxy>>

/** A real proxy, as a process of its own. */
export async function startProxy(options: ProxyOptions) {
  const child = fork(MAIN, [JSON.stringify(options)], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const asked: string[] = []
  const logins: (string | undefined)[] = []
  const shown: (string | undefined)[] = []
  const endings: string[] = []
  let obeyed: (() => void)[] = []
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the proxy ended')))
    child.on('message', (said: ProxySaid) => {
      if (said.type === 'listening') resolve(said.port)
      else if (said.type === 'asked') {
        asked.push(said.line)
        logins.push(said.login)
        shown.push(said.shown)
      } else if (said.type === 'ended') endings.push(said.how)
      else {
        for (const done of obeyed) done()
        obeyed = []
      }
    })
  })
  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    /** `CONNECT host:port`, or `GET http://…`, in order. */
    asked,
    /** `Proxy-Authorization` of each of these. */
    logins,
    /** Subjects of the certificates that clients showed, of each of these. */
    shown,
    /** How clients ended the connections on which they asked for a CONNECT: `closed`, `ECONNRESET`. */
    endings,
    /** Done when the proxy does so. */
    async set(mode: ProxyMode) {
      await new Promise<void>((resolve) => {
        obeyed.push(resolve)
        child.send(mode)
      })
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
    },
  }
}
