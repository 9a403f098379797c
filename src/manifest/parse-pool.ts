import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Limits } from './limits.ts'
import { parseFile } from './parse-file.ts'
import type { FileContent, ParsedFile } from './parse-file.ts'

/**
 * Processes that parse files, for as long as a reading takes. Processes and not helpers: what a thread held stays with the
 * process when it ends, some hundred megabytes after ten thousand manifests.
 */
export interface ParsePool extends AsyncDisposable {
  /** @param content may be changed as soon as this returns */
  parse(content: FileContent): Promise<ParsedFile>
  /** Undefined when there is room. */
  hasRoom(): Promise<void> | undefined
  end(): void
  /** Of the helpers that run. */
  readonly pids: readonly number[]
}

/** What a process is sent: files whose bytes stand one after the other. */
export interface Batch {
  readonly files: readonly { readonly file: string; readonly hash: string; readonly end: number }[]
  readonly bytes: Uint8Array
}

interface Job {
  readonly batch: Batch
  /** One for each file. */
  readonly answers: readonly Answer[]
}

type Answer = Pick<PromiseWithResolvers<ParsedFile>, 'resolve' | 'reject'>

interface Helper {
  readonly child: ChildProcess
  readonly jobs: Job[]
  /** When it last had nothing to do or gave an answer, ms of `performance.now`. */
  answeredAt: number
}

const HELPER = fileURLToPath(new URL('parse-helper.ts', import.meta.url))
/** Each takes some 125 MB while it lasts, and a pod has little more than the daemon needs. */
const MOST_HELPERS = 2
/** A small nursery: what a parser makes is garbage at once, and more room for it only makes the process larger. */
const FLAGS = ['--max-semi-space-size=4']
const BATCH_FILES = 16
const BATCH_BYTES = 32_768
/** A batch takes some 50 ms, a hostile one some seconds: who takes longer, on a machine that has time for it, hangs. */
const ANSWER_MS = 20_000
const LOOK_MS = 1_000
/** Batches that a helper has: one that it works on, and one that waits. */
const BATCHES = 2

export interface ParsePoolOptions {
  /** The Node that helpers run on; unless said otherwise, that of this process. */
  readonly execPath?: string
  /** A helper that has something to do and does not answer for so many ms is ended. */
  readonly answerMs?: number
}

export function createParsePool(
  limits: Limits,
  { execPath = process.execPath, answerMs = ANSWER_MS }: ParsePoolOptions = {},
): ParsePool {
  const helpers: Helper[] = []
  let held: { readonly content: FileContent; readonly answer: Answer }[] = []
  let heldBytes = 0
  let waiting: (() => void) | undefined
  let closed = false
  const looking = setInterval(endWhoHangs, Math.min(LOOK_MS, answerMs))
  for (let n = 0; n < Math.min(MOST_HELPERS, availableParallelism()); n += 1) open()

  function open(): void {
    const child = fork(HELPER, {
      execPath,
      execArgv: FLAGS,
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache() },
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const helper: Helper = { child, jobs: [], answeredAt: performance.now() }
    child.on('message', (parsed: readonly ParsedFile[]) => {
      const job = helper.jobs.shift()
      helper.answeredAt = performance.now()
      if (job !== undefined) give(job, parsed)
      letMoreCome()
    })
    child.on('error', () => lose(helper))
    child.once('exit', () => lose(helper))
    child.send(limits)
    helpers.push(helper)
  }

  function endWhoHangs(): void {
    const since = performance.now() - answerMs
    for (const { child, jobs, answeredAt } of helpers) {
      if (jobs.length > 0 && answeredAt < since) child.kill('SIGKILL')
    }
  }

  /** One that ended early, for want of memory say: what it had to do is done here. */
  function lose(helper: Helper): void {
    if (helpers.includes(helper)) helpers.splice(helpers.indexOf(helper), 1)
    if (!closed) for (const job of helper.jobs.splice(0)) parseHere(job)
    letMoreCome()
  }

  function parseHere(job: Job): void {
    try {
      give(job, parseBatch(job.batch, limits))
    } catch (error) {
      for (const { reject } of job.answers) reject(error)
    }
  }

  function letMoreCome(): void {
    if (!isFull()) waiting?.()
  }

  function isFull(): boolean {
    return helpers.length > 0 && helpers.every(({ jobs }) => jobs.length >= BATCHES)
  }

  function send(): void {
    if (held.length === 0) return
    const bytes = new Uint8Array(heldBytes)
    let end = 0
    const files = held.map(({ content }) => {
      bytes.set(content.bytes, end)
      end += content.bytes.length
      return { file: content.file, hash: content.hash, end }
    })
    const job: Job = { batch: { files, bytes }, answers: held.map((one) => one.answer) }
    held = []
    heldBytes = 0
    const [helper] = helpers.toSorted((a, b) => a.jobs.length - b.jobs.length)
    if (helper === undefined) return parseHere(job)
    if (helper.jobs.length === 0) helper.answeredAt = performance.now()
    helper.jobs.push(job)
    helper.child.send(job.batch)
  }

  return {
    parse({ file, hash, bytes }) {
      const { promise, ...answer } = Promise.withResolvers<ParsedFile>()
      held.push({ content: { file, hash, bytes: Buffer.from(bytes) }, answer })
      heldBytes += bytes.length
      if (held.length >= BATCH_FILES || heldBytes >= BATCH_BYTES) send()
      return promise
    },
    hasRoom() {
      if (!isFull()) return undefined
      return new Promise((resolve) => {
        waiting = () => {
          waiting = undefined
          resolve()
        }
      })
    },
    end: send,
    get pids() {
      return helpers.flatMap(({ child }) => child.pid ?? [])
    },
    async [Symbol.asyncDispose]() {
      closed = true
      clearInterval(looking)
      await Promise.all(
        helpers.map(async ({ child }) => {
          const ended = once(child, 'exit')
          child.kill('SIGKILL')
          await ended
        }),
      )
    },
  }
}

/** Where this process keeps compiled modules; in it, each kind of Node has a folder of its own. */
function compileCache(): string | undefined {
  const own = getCompileCacheDir()
  return own && dirname(own)
}

function give({ answers }: Job, parsed: readonly ParsedFile[]): void {
  for (const [index, { resolve }] of answers.entries()) {
    const file = parsed[index]
    if (file !== undefined) resolve(file)
  }
}

/** All files of a batch, in their order. */
export function parseBatch({ files, bytes }: Batch, limits: Limits): readonly ParsedFile[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let start = 0
  return files.map(({ file, hash, end }) => {
    const content = { file, hash, bytes: all.subarray(start, end) }
    start = end
    return parseFile(content, limits)
  })
}
