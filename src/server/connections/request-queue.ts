import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { addressOf } from './client-address.ts'

/** Requests are worked on for so long before the process looks after everything else: ms. */
const WORK_MS = 2

/** How long everything else then has at most: ms. Unless it is more, as long as the requests had. */
const LONGEST_REST_MS = 100

/**
 * Requests that wait until one before them was begun, by the address of their client. Addresses take turns, so that one that sends
 * many does not keep the others waiting, and half of the time is for what the daemon is there for.
 */
export function queued<Request extends typeof IncomingMessage, Response extends typeof ServerResponse>(
  answer: RequestListener<Request, Response>,
): RequestListener<Request, Response> {
  const waiting = new Map<string, (() => void)[]>()
  let isRunning = false

  function next(): (() => void) | undefined {
    const [first] = waiting
    if (first === undefined) return undefined
    const [address, requests] = first
    const begin = requests.shift()
    waiting.delete(address)
    if (requests.length > 0) waiting.set(address, requests) // behind the other addresses
    return begin
  }

  async function run(): Promise<void> {
    isRunning = true
    let spent = 0
    for (let begin = next(); begin !== undefined; begin = next()) {
      const begunAt = performance.now()
      begin()
      await setImmediate() // until what follows at once is done, too
      spent += performance.now() - begunAt
      if (spent < WORK_MS) continue
      await setTimeout(Math.min(spent, LONGEST_REST_MS))
      spent = 0
    }
    isRunning = false
  }

  return (request, reply) => {
    const { socket } = request
    const address = addressOf(socket.remoteAddress)
    if (address === undefined || socket.destroyed) return // its client is gone already
    const requests = waiting.get(address) ?? []
    waiting.set(address, requests)
    requests.push(() => {
      if (!socket.destroyed) answer(request, reply)
    })
    if (!isRunning) void run()
  }
}
