import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

const POLL_MS = 20

/**
 * Fails instead of hanging if a FIFO has no writer, or a device has no end.
 * @throws file-system errors, and the signal's reason
 */
export async function readTextFile(
  path: string,
  limits: {
    readonly maxBytes?: number
    /** ms to wait for the writer of a FIFO, as in `--config <(…)`. */
    readonly writerMs?: number
    readonly signal?: AbortSignal
  } = {},
): Promise<string> {
  const { maxBytes = 1024 * 1024, writerMs = 10_000, signal } = limits
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  const isFifo = (await file.stat()).isFIFO()
  const chunks: Buffer[] = []
  let length = 0
  for (let waitedMs = 0; ;) {
    signal?.throwIfAborted()
    const { bytesRead, buffer } = await file.read(Buffer.alloc(64 * 1024)).catch(emptyIfBusy)
    length += bytesRead
    if (length > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`)
    if (bytesRead > 0) chunks.push(buffer.subarray(0, bytesRead))
    else if (buffer.length > 0 && (!isFifo || length > 0)) return Buffer.concat(chunks).toString('utf8')
    else if (waitedMs >= writerMs) throw new Error(`nothing was written to it for ${writerMs / 1_000}s`)
    else await pause(POLL_MS, (waitedMs += POLL_MS), { signal })
  }
}

function emptyIfBusy(error: NodeJS.ErrnoException) {
  if (error.code !== 'EAGAIN') throw error
  return { bytesRead: 0, buffer: Buffer.alloc(0) }
}
