import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** A folder of its own for one test, gone afterwards. */
export interface Workspace extends Disposable {
  readonly dir: string
  /** `manifests/` in it. */
  readonly manifests: string
  /** `credentials/` in it. */
  readonly credentials: string
  /** `secrets/` in it. */
  readonly secrets: string
  /** Writes a file, with its folders; paths are relative to the workspace. */
  readonly write: (path: string, content: string | Uint8Array) => void
  readonly path: (...parts: readonly string[]) => string
}

export function createWorkspace(): Workspace {
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
    write(name, content) {
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
