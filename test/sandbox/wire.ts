import { connect } from 'node:net'
import { BASIC, PIPES } from './given.ts'

/** What came over a bare connection, and how it ended. */
export interface Seen {
  /** All bytes, as text. */
  readonly text: string
  /** `open`: nothing more had come by then. */
  readonly end: 'closed' | 'reset' | 'open'
}

/** Sends one request over a socket of its own and listens until the other side ends it, or until then. */
export function speak(
  url: string,
  about: { readonly body: string; readonly path?: string; readonly until?: Promise<unknown> | undefined },
): Promise<Seen> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let text = ''
    const finish = (end: Seen['end']) => {
      socket.destroy()
      resolve({ text, end })
    }
    void about.until?.then(() => finish('open'))
    socket.setEncoding('utf8')
    socket.on('data', (part: string) => {
      text += part
    })
    socket.on('end', () => finish('closed'))
    socket.on('error', () => finish('reset'))
    socket.write(
      [
        `POST ${about.path ?? PIPES} HTTP/1.1`,
        'host: 127.0.0.1',
        `authorization: ${BASIC}`,
        'content-type: application/json',
        `content-length: ${Buffer.byteLength(about.body)}`,
        'connection: close',
        '',
        about.body,
      ].join('\r\n'),
    )
  })
}
