import { isTerminal, widthOfTerminal } from './terminal.ts'
import type { Io } from '../io.ts'

/** Shorter work shows no progress. */
const AFTER_MS = 1_000

const EVERY_MS = 100

const ERASE_LINE = '\r\u001b[2K'

export interface Progress extends Disposable {
  show(what: string, done?: number, of?: number): void
  /** A stream that clears the line before each write. */
  readonly stderr: NodeJS.WritableStream
}

/** Shows progress on standard error, except with `NO_COLOR` or `TERM=dumb`. */
export function createProgress({ stderr, env }: Pick<Io, 'stderr' | 'env'>): Progress {
  const isQuiet = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb'
  if (isQuiet || !isTerminal(stderr))
    return { stderr, show: () => undefined, [Symbol.dispose]: () => undefined }
  const startedAt = performance.now()
  let line = ''
  let isShown = false
  let paintedAt = -Infinity

  function erase(): void {
    if (isShown) stderr.write(ERASE_LINE)
    isShown = false
  }

  function paint(): void {
    const now = performance.now()
    if (line === '' || now - startedAt < AFTER_MS || now - paintedAt < EVERY_MS) return
    paintedAt = now
    stderr.write(ERASE_LINE + line.slice(0, widthOfTerminal(stderr, USUAL_COLUMNS) - 1))
    isShown = true
  }

  const timer = setInterval(paint, EVERY_MS).unref()
  return {
    stderr: guarded(stderr, erase),
    show(what, done, of) {
      line = of === undefined ? `${what} …` : `${what} ${done} of ${of} …`
      paint()
    },
    [Symbol.dispose]() {
      clearInterval(timer)
      erase()
    },
  }
}

const USUAL_COLUMNS = 80

function guarded(stream: NodeJS.WritableStream, before: () => void): NodeJS.WritableStream {
  return new Proxy(stream, {
    get(target, name) {
      if (name === 'write') before()
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
