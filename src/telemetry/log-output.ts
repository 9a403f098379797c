import { fstatSync, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'
import type { Clock } from '../lib/clock.ts'
import type { LineDefinition } from './log-fields.ts'

/** Characters. If more wait for the reader, new lines are dropped. */
const MOST_WAITING = 8 * 2 ** 20

const CLOSE_MS = 2_000

export const LINES_LOST = {
  message: 'Log lines lost',
  levels: { warn: 'the reader continues, or the disk has room again' },
  fields: ['lines'],
} as const satisfies LineDefinition

/** Drops lines if the reader is slow or the disk is full: a create must not wait for the log. */
export interface Output extends DestinationStream {
  /** Waits for unwritten lines, up to CLOSE_MS. */
  close(): Promise<void>
}

interface OutputOptions {
  readonly destination: NodeJS.WritableStream
  readonly clock: Clock
  /** Called when writing works again, with the number of dropped lines. */
  readonly onRoom: (lost: number) => void
}

/** Writes immediately if possible: a line must survive a crash. */
export function openOutput(options: OutputOptions): Output {
  const file = fileOf(options.destination)
  return file === undefined ? streamOutput(options) : fileOutput(file, options.onRoom)
}

/** @returns undefined if writes might block, as to a terminal or a pipe */
function fileOf(destination: NodeJS.WritableStream): number | undefined {
  if (!('fd' in destination) || typeof destination.fd !== 'number') return undefined
  if ('isTTY' in destination && destination.isTTY === true) return undefined
  const kind = fstatSync(destination.fd)
  return kind.isFile() || kind.isCharacterDevice() ? destination.fd : undefined
}

/** Avoids the process's stream, because a stream stays broken after a failed write. */
function fileOutput(file: number, onRoom: OutputOptions['onRoom']): Output {
  let lost = 0
  let isTorn = false
  return {
    write(text) {
      const bytes = Buffer.from(isTorn ? `\n${text}` : text)
      let written = 0
      try {
        while (written < bytes.length) written += writeSync(file, bytes, written)
      } catch {
        isTorn ||= written > 0
        lost += 1
        return
      }
      isTorn = false
      const before = lost
      lost = 0
      if (before > 0) onRoom(before)
    },
    close: () => Promise.resolve(),
  }
}

function streamOutput({ destination, clock, onRoom }: OutputOptions): Output {
  let waiting = 0
  let lost = 0
  destination.on('error', ignore)

  function onWritten(length: number): void {
    waiting -= length
    if (lost === 0 || waiting > 0) return
    const before = lost
    lost = 0
    onRoom(before)
  }

  return {
    write(text) {
      if (waiting > MOST_WAITING) {
        lost += 1
        return
      }
      waiting += text.length
      destination.write(text, () => onWritten(text.length))
    },
    close: () =>
      new Promise((resolve) => {
        const cancel = clock.after(CLOSE_MS, done)
        function done(): void {
          cancel()
          destination.off('error', ignore)
          resolve()
        }
        destination.write('', done)
      }),
  }
}

function ignore(): void {}
