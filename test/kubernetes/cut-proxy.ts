import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A way between a process and a server, which can be cut. */
export type CutProxy = Awaited<ReturnType<typeof startCutProxy>>

export async function startCutProxy(target: string) {
  const { hostname, port, protocol } = new URL(target)
  const pairs = new Set<readonly [Socket, Socket]>()
  let mode: 'open' | 'cut' | 'silent' = 'open'
  /** What waits for the way to be open, in order. */
  let waiting: { readonly to: Socket; readonly chunk: Buffer; readonly isOfClient: boolean }[] = []

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
        // What was held back still arrives.
        if (mode !== 'silent') to.destroy()
      })
      from.on('end', () => mode !== 'silent' && to.end())
      from.on('data', (chunk: Buffer) => {
        if (mode === 'silent') waiting.push({ to, chunk, isOfClient: from === client })
        else to.write(chunk)
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    url: `${protocol}//127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** `cut`: connections end, and none is made. `silent`: nothing gets through, and nobody is told. */
    set(next: 'open' | 'cut' | 'silent') {
      mode = next
      if (next === 'cut') for (const pair of pairs) for (const socket of pair) socket.destroy()
      if (next === 'open') for (const { to, chunk } of waiting) to.write(chunk)
      if (next !== 'silent') waiting = []
    },
    /** What was sent by the process and is held back. */
    held: () =>
      waiting
        .filter(({ isOfClient }) => isOfClient)
        .map(({ chunk }) => chunk.toString('utf8'))
        .join(''),
    async [Symbol.asyncDispose]() {
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
