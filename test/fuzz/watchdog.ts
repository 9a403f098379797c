import { writeSync } from 'node:fs'
import { Worker, isMainThread, workerData } from 'node:worker_threads'

/** Ends the process, with the input that it hangs on, where the hang cannot be told from inside. */
export type Watchdog = ReturnType<typeof startWatchdog>

/** Milliseconds on one input after which nobody waits any longer; up to twice as many, as looks are that far apart. */
const PATIENCE = 60_000

/** Bytes of an input that are shown. */
const ROOM = 1_048_576

export function startWatchdog() {
  const turns = new Int32Array(new SharedArrayBuffer(8))
  const bytes = new Uint8Array(new SharedArrayBuffer(ROOM))
  const worker = new Worker(new URL(import.meta.url), { workerData: { turns, bytes } })
  worker.unref()
  return {
    /** Call before each input. @param input as it is given to the command to repeat it */
    begins(input: string) {
      const { written } = new TextEncoder().encodeInto(input, bytes)
      Atomics.store(turns, 1, written)
      Atomics.add(turns, 0, 1)
    },
    async stop() {
      await worker.terminate()
    },
  }
}

/** Looks now and then; the same turn at two looks is a hang. */
function watch(turns: Int32Array, bytes: Uint8Array): void {
  const idle = new Int32Array(new SharedArrayBuffer(4))
  for (;;) {
    const turn = Atomics.load(turns, 0)
    Atomics.wait(idle, 0, 0, PATIENCE)
    if (turn === 0 || Atomics.load(turns, 0) !== turn) continue
    const input = Buffer.from(bytes.subarray(0, Atomics.load(turns, 1))).toString()
    writeSync(2, `hang: over ${PATIENCE} ms, ended\n  ${input}\n`)
    process.kill(process.pid, 'SIGKILL')
  }
}

if (!isMainThread) {
  const { turns, bytes } = workerData as { readonly turns: Int32Array; readonly bytes: Uint8Array } // given above
  watch(turns, bytes)
}
