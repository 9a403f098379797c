import { closeSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs'

/** Bytes. Enough for the outcomes of many creates with history and journal. */
const SIZE = 1_048_576

/** A file that reserves disk space, removed if an outcome finds the volume full. */
export interface Reserve {
  /** @throws file-system errors, such as ENOSPC */
  take(): void
  /** @returns whether there was a reserve */
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
        // Not zeros: some file systems do not store them.
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
