import { closeSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs'

/** Enough for the outcomes of many creates, their history and the journal of the transaction. In bytes. */
const SIZE = 1_048_576

/**
 * Room on the volume that nobody else can take: a file beside the ledger, which is removed when an outcome would find no room
 * otherwise. What became of a create can then be written on a volume that was filled up meanwhile.
 */
export interface Reserve {
  /** Makes sure that the room is taken. @throws what the file system throws, such as ENOSPC */
  take(): void
  /** Gives the room back. @returns whether there was some */
  release(): boolean
}

export function createReserve(ledger: string): Reserve {
  const file = `${ledger}.reserve`

  function size(): number {
    return statSync(file, { throwIfNoEntry: false })?.size ?? 0
  }

  function remove(): void {
    rmSync(file, { force: true })
  }

  return {
    take() {
      if (size() >= SIZE) return
      const handle = openSync(file, 'w', 0o600)
      try {
        // Not zeros: some file systems store none of those.
        const block = Buffer.alloc(65_536, 'pipewright keeps this room for the outcome of a create\n')
        for (let written = 0; written < SIZE; written += block.length) writeSync(handle, block)
        fsyncSync(handle)
      } catch (error) {
        remove()
        throw error
      } finally {
        closeSync(handle)
      }
    },
    release() {
      if (size() === 0) return false
      remove()
      return true
    },
  }
}
