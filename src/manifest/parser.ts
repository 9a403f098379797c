import type { Limits } from './limits.ts'
import { parseFile } from './parse-file.ts'
import type { FileContent, ParsedFile } from './parse-file.ts'
import { createParsePool } from './parse-pool.ts'
import type { ParsePool } from './parse-pool.ts'

/** Parses the files of one reading: on this thread, or on others when there are many. */
export interface Parser extends AsyncDisposable {
  /** @param content may be changed as soon as this returns */
  parse(content: FileContent): Promise<ParsedFile>
  /** Resolves when more may come: at once, unless other threads have enough to do. */
  hasRoom(): Promise<void> | undefined
  /** Nothing more comes: what was held back to be sent together is sent. */
  end(): void
  /** Files that were given to it. */
  readonly parsed: number
}

/** A thread has to load all modules and to run them for a while before it is quick: for fewer files it is not worth it. */
const WORTH_THREADS = 1_000
/** So many are parsed here before anything is handed over: mostly, few files are new. */
const FIRST_HERE = 100

/** @param files how many files the reading has, of which only the new ones are parsed */
export function createParser(limits: Limits, files: number): Parser {
  let parsed = 0
  let pool: ParsePool | undefined
  return {
    parse(content) {
      parsed += 1
      if (pool === undefined && parsed > FIRST_HERE && files - parsed >= WORTH_THREADS)
        pool = createParsePool(limits)
      return pool === undefined ? Promise.resolve(parseFile(content, limits)) : pool.parse(content)
    },
    hasRoom: () => pool?.hasRoom(),
    end: () => pool?.end(),
    get parsed() {
      return parsed
    },
    async [Symbol.asyncDispose]() {
      await pool?.[Symbol.asyncDispose]()
    },
  }
}
