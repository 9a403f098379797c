import { open, readFile, rename, rm } from 'node:fs/promises'
import { readSentStates, writeSentStates, type SentState } from './sent-state.ts'

/** What was sent, for the next start. */
export interface SentStateFile {
  /** What the last process sent; `undefined`: there was none. */
  readonly before: ReadonlyMap<string, SentState> | undefined
  /** Replaces what is kept, whole. @throws what the file system throws */
  save(targets: ReadonlyMap<string, SentState>): Promise<void>
  /** Why what is there is not used; it is replaced. */
  readonly unusable: string | undefined
}

/** A file beside the ledger. To lose it costs repetitions, and nothing else. */
export async function openSentStateFile(file: string): Promise<SentStateFile> {
  const save = async (targets: ReadonlyMap<string, SentState>) => replace(file, writeSentStates(targets))
  let text
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (isAbsent(error)) return { before: undefined, unusable: undefined, save }
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return { before: undefined, unusable: `${file} cannot be read (${code})`, save }
  }
  const before = readSentStates(text)
  return {
    before,
    unusable: before === undefined ? `${file} is damaged, or of another version` : undefined,
    save,
  }
}

/** Without a ledger that lasts there is nothing to compare with at the next start. */
export function noSentStateFile(): SentStateFile {
  return { before: undefined, unusable: undefined, save: async () => undefined }
}

/** Whoever reads it sees the old or the new, also after a crash. */
async function replace(file: string, text: string): Promise<void> {
  const next = `${file}.next`
  try {
    {
      await using handle = await open(next, 'w', 0o600)
      await handle.writeFile(text)
      await handle.sync()
    }
    await rename(next, file)
  } catch (error) {
    await rm(next, { force: true }).catch(() => undefined)
    throw error
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
