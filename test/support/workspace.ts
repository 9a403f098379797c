import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** A folder of its own for one test, gone afterwards. */
export type Workspace = ReturnType<typeof createWorkspace>

export function createWorkspace() {
  const dir = mkdtempSync(join(tmpdir(), 'pipewright-'))
  const path = (...parts: readonly string[]) => join(dir, ...parts)
  mkdirSync(path('manifests'))
  mkdirSync(path('credentials'))
  mkdirSync(path('secrets'))
  return {
    dir,
    manifests: path('manifests'),
    credentials: path('credentials'),
    secrets: path('secrets'),
    path,
    /** Writes a file, with its folders; paths are relative to the workspace. */
    write: (name: string, content: string | Uint8Array) => {
      mkdirSync(dirname(path(name)), { recursive: true })
      // At once, as an editor does it: half of a manifest is another story, for tests that mean it.
      const hidden = join(dirname(path(name)), `.${basename(name)}.new`)
      writeFileSync(hidden, content)
      renameSync(hidden, path(name))
    },
    [Symbol.dispose]() {
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
