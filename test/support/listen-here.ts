import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'

/** @returns the free port on 127.0.0.1 where the server listens then */
export async function listenHere(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port // it listens on TCP
}
