import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { write } from './git-sync-trees.ts'

/** Makes a working copy, and a bare repository that it pushes to; nobody's own Git settings count. */
export function createRepository(work: string, bare: string) {
  const env = {
    PATH: process.env['PATH'] ?? '',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_AUTHOR_NAME: 'test',
    GIT_AUTHOR_EMAIL: 'test@example.org',
    GIT_COMMITTER_NAME: 'test',
    GIT_COMMITTER_EMAIL: 'test@example.org',
  }
  const run = (args: readonly string[]) => {
    return execFileSync('git', args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
  }
  const git = (...args: readonly string[]) => run(['-C', work, ...args])
  run(['init', '--quiet', '--initial-branch=main', work])
  run(['init', '--quiet', '--bare', '--initial-branch=main', bare])
  git('remote', 'add', 'origin', bare)
  return {
    /** Paths are relative to the working copy. */
    write: (path: string, text: string) => write(join(work, path), text),
    /** @returns the commit's full name */
    commit(message: string) {
      git('add', '--all')
      git('commit', '--quiet', '--message', message)
      return git('rev-parse', 'HEAD')
    },
    push: () => void git('push', '--quiet', 'origin', 'HEAD'),
    git,
  }
}
