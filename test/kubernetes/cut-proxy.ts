import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A way between a process and a server, which can be cut. */
export interface CutProxy extends AsyncDisposable {
  readonly url: string
  /** `cut`: connections end, and none is made. `silent`: nothing gets through, and nobody is told. */
  set(mode: 'open' | 'cut' | 'silent'): void
}

export async function startCutProxy(target: string): Promise<CutProxy> {
  const { hostname, port, protocol } = new URL(target)
  const pairs = new Set<readonly [Socket, Socket]>()
  let mode: 'open' | 'cut' | 'silent' = 'open'

  const server = createServer((client) => {
    if (mode === 'cut') {
      client.destroy()
      return
    }
    const upstream = connect(Number(port), hostname)
    const pair = [client, upstream] as const
    pairs.add(pair)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('error', () => undefined)
      from.on('close', () => {
        pairs.delete(pair)
        to.destroy()
      })
      from.on('end', () => to.end())
      from.on('data', (chunk: Buffer) => void to.write(chunk))
    }
    if (mode === 'silent') for (const socket of pair) socket.pause()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    url: `${protocol}//127.0.0.1:${(server.address() as AddressInfo).port}`,
    set(next) {
      mode = next
      for (const pair of pairs)
        for (const socket of pair) {
          if (next === 'cut') socket.destroy()
          else if (next === 'silent') socket.pause()
          else socket.resume()
        }
    },
    async [Symbol.asyncDispose]() {
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
