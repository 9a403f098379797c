/** What a command has of the process; tests give their own. */
export interface Io {
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stop: StopSignals
}

export interface StopSignals {
  /** Aborted by the first SIGTERM or SIGINT; the reason names it. */
  readonly stopping: AbortSignal
  /** Aborted by the second one. */
  readonly forced: AbortSignal
  /** Calls back on each SIGHUP. */
  onHangup(listener: () => void): void
}

export function print(stream: NodeJS.WritableStream, text: string): void {
  stream.write(text.endsWith('\n') ? text : `${text}\n`)
}

export function printJson(io: Io, value: unknown): void {
  print(io.stdout, JSON.stringify(value, undefined, 2))
}
