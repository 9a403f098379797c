/**
 * Stands in for git-sync v4, whose module the Go proxy does not give out: one sync with the real git, in its layout
 * (a worktree in `.worktrees/<commit>`, a link that is renamed over the old one, the old worktree removed), then its webhook.
 * It takes git-sync's own flags and no others, so that a flag of the chart that git-sync does not know is an error here.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { swap } from './git-sync-trees.ts'

/** Of the flags of git-sync v4 (`git-sync --man`), those that mean something for one sync; `--ssh` only v4.0 needs. */
const FLAGS = {
  repo: { type: 'string' },
  ref: { type: 'string', default: 'HEAD' },
  depth: { type: 'string', default: '1' },
  root: { type: 'string' },
  link: { type: 'string' },
  period: { type: 'string', default: '10s' },
  submodules: { type: 'string', default: 'recursive' },
  'max-failures': { type: 'string', default: '0' },
  username: { type: 'string' },
  'password-file': { type: 'string' },
  ssh: { type: 'boolean' },
  'ssh-key-file': { type: 'string' },
  'ssh-known-hosts-file': { type: 'string' },
  'stale-worktree-timeout': { type: 'string' },
  'webhook-success-status': { type: 'string', default: '200' },
  'webhook-backoff': { type: 'string', default: '3s' },
  'http-bind': { type: 'string' },
  'http-metrics': { type: 'boolean' },
  'webhook-timeout': { type: 'string', default: '1s' },
} as const

export function parseGitSyncArgs(args: readonly string[]) {
  return parseArgs({ args: [...args], options: FLAGS, strict: true }).values
}

async function main(): Promise<void> {
  const flags = parseGitSyncArgs(process.argv.slice(2))
  const { repo, root, link } = flags
  if (repo === undefined || root === undefined || link === undefined) throw new Error('a flag is missing')
  const password = flags['password-file']
  if (password !== undefined && readFileSync(password, 'utf8') === '')
    throw new Error('the password is empty')

  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-C', root, ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    }).trim()
  // Like git-sync, in a file of its own: it needs a /tmp to write to, and leaves the .gitconfig of its user alone.
  process.env['GIT_CONFIG_GLOBAL'] = join(mkdtempSync(join(tmpdir(), 'git-sync.')), 'gitconfig')
  git('config', '--global', 'safe.directory', '*')
  if (!existsSync(join(root, '.git'))) git('init', '--quiet', '--initial-branch=git-sync')
  git('fetch', '--quiet', ...(flags.depth === '0' ? [] : [`--depth=${flags.depth}`]), repo, flags.ref)
  const commit = git('rev-parse', 'FETCH_HEAD')
  const tree = join('.worktrees', commit)
  if (!existsSync(join(root, tree))) git('worktree', 'add', '--quiet', '--force', '--detach', tree, commit)
  swap(root, link, tree)
  for (const old of readdirSync(join(root, '.worktrees')).filter((name) => name !== commit)) {
    rmSync(join(root, '.worktrees', old), { recursive: true })
  }
  git('worktree', 'prune')

  const webhook = process.env['GITSYNC_WEBHOOK_URL']
  if (webhook === undefined) return
  const status = await call(webhook, commit)
  process.stdout.write(`webhook ${status}\n`)
  if (String(status) !== flags['webhook-success-status']) process.exitCode = 1
}

/** As Go's client does it: credentials of the URL become a Basic header. */
async function call(webhook: string, commit: string): Promise<number> {
  const url = new URL(webhook)
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  url.username = ''
  url.password = ''
  const headers = { 'Gitsync-Hash': commit, authorization: `Basic ${Buffer.from(login).toString('base64')}` }
  const reply = await fetch(url, { method: 'POST', headers, signal: AbortSignal.timeout(1_000) })
  return reply.status
}

if (process.argv[1]?.endsWith('git-sync-imitation.ts') === true) await main()
