import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const MODULE = 'k8s.io/git-sync/v4@latest'
const LIMIT_MS = 280_000

/** Where git-sync is, or why it is nowhere. */
export type Installed = { readonly program: string } | { readonly program: undefined; readonly why: string }

/** Builds git-sync from its Go module into a folder; `PIPEWRIGHT_TEST_GIT_SYNC` names one that is there already. */
export async function installGitSync(folder: string): Promise<Installed> {
  const given = process.env['PIPEWRIGHT_TEST_GIT_SYNC']
  if (given !== undefined) return { program: given }
  try {
    await promisify(execFile)('go', ['install', MODULE], {
      env: { ...process.env, GOBIN: folder },
      timeout: LIMIT_MS,
    })
  } catch (error) {
    return { program: undefined, why: reasonOf(error) }
  }
  const program = join(folder, 'git-sync')
  if (existsSync(program)) return { program }
  return { program: undefined, why: `"go install ${MODULE}" ended well, but left no ${program}` }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return `"go install ${MODULE}" failed`
  if ('code' in error && error.code === 'ENOENT')
    return 'Go is missing: install it, and have "go" on the PATH'
  if ('killed' in error && error.killed === true)
    return `"go install ${MODULE}" took longer than ${LIMIT_MS} ms`
  const told = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : error.message
  return `"go install ${MODULE}" failed: ${told}`
}
