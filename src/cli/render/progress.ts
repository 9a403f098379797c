import type { Io } from '../io.ts'

/** Work that ends sooner shows nothing: ms. */
const AFTER_MS = 1_000

/** No eye follows more: ms. */
const EVERY_MS = 100

const ERASE_LINE = '\r\u001b[2K'

/** One line that moves while a person waits at a terminal, and is gone at the end. Elsewhere nothing. */
export interface Progress extends Disposable {
  /** Says what is done now; both numbers are shown where there are two. */
  show(what: string, done?: number, of?: number): void
  /** The same stream, for whoever writes lines to it meanwhile. */
  readonly stderr: NodeJS.WritableStream
}

/** On standard error, so that what is printed can be piped. Nothing moves with `NO_COLOR` or `TERM=dumb`, either. */
export function createProgress({ stderr, env }: Pick<Io, 'stderr' | 'env'>): Progress {
  if (!isLive(stderr, env)) return { stderr, show: () => undefined, [Symbol.dispose]: () => undefined }
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
    stderr.write(ERASE_LINE + line.slice(0, columnsOf(stderr) - 1))
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

function isLive(stream: NodeJS.WritableStream, env: Io['env']): boolean {
  const isTerminal = 'isTTY' in stream && stream.isTTY === true
  const isQuiet = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb'
  return isTerminal && !isQuiet
}

const USUAL_COLUMNS = 80

function columnsOf(stream: NodeJS.WritableStream): number {
  return 'columns' in stream && typeof stream.columns === 'number' && stream.columns > 0
    ? stream.columns
    : USUAL_COLUMNS
}

/** Each write finds the line empty. */
function guarded(stream: NodeJS.WritableStream, before: () => void): NodeJS.WritableStream {
  return new Proxy(stream, {
    get(target, name) {
      if (name === 'write') before()
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
