import type { Settings } from '../../config/settings.ts'
import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Finding } from '../../kinds/finding.ts'
import type { Catalog } from '../../contract/catalog.ts'
import { folderOf } from '../command-context.ts'
import { openSource } from '../compose.ts'
import { MANIFESTS } from '../../config/settings.ts'
import { isDirectory, isIn, usualRootAround } from '../manifests-root.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson, VERSION } from '../io.ts'
import {
  findingsAsCompact,
  findingsAsGithub,
  findingsAsJson,
  findingsAsSarif,
  findingsAsText,
} from '../render/findings-text.ts'
import { IGNORE_FILE, IgnoreFileError, readIgnoreFile } from '../../manifest/files/ignore-file.ts'
import { createProgress } from '../render/progress.ts'
import { paintFor } from '../render/terminal.ts'

export const VALIDATE_OUTPUTS = ['text', 'compact', 'json', 'github', 'sarif'] as const

/** Whether a folder is part of the manifests directory, and not one of its own. @param manifests as the flag names it */
export function isBelow(folder: string, manifests: unknown): boolean {
  const root = typeof manifests === 'string' ? manifests : MANIFESTS
  return resolve(folder) !== resolve(root) && isIn(folder, root) && isDirectory(root)
}

interface Asked {
  readonly output: (typeof VALIDATE_OUTPUTS)[number]
  /** Files and folders whose findings are shown; all when there is none. The whole directory is read all the same. */
  readonly paths: readonly string[]
}

/** `pipewright validate [path…]`: the findings of all manifests, or of those named, without talking to anything. */
export async function validate(io: Io, settings: Settings, { output, paths }: Asked): Promise<ExitCode> {
  const named = paths.map((path) => belowRoot(path, settings.manifests))
  for (const path of ignoredAmong(named, settings.manifests))
    print(io.stderr, `${path} is named in ${IGNORE_FILE}, so it is not read.`)
  using progress = createProgress(io)
  const source = openSource(settings, progress)
  const { state, counts } = await source.load(new Map(), { accept: 'normal' }, io.stop.stopping)
  progress[Symbol.dispose]()
  const { catalog } = state
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  for (const text of endedSuspensions(catalog, settings.manifests, Date.now())) print(io.stderr, text)
  const problem =
    (catalog.problem && catalog.problem.message + whereElse(settings.manifests)) ??
    (total === 0 && catalog.findings.length === 0 ? NOTHING_THERE : undefined)
  const findings = named.length === 0 ? catalog.findings : findingsOf(catalog.findings, named)
  const errors = findings.filter((finding) => finding.severity === 'error')
  show(io, settings, output, { findings, problem, total, paths: named.length })
  return errors.length > 0 || problem !== undefined ? EXIT.failed : EXIT.fine
}

/** A path as findings name it: relative to the manifests directory. */
function belowRoot(path: string, root: string): string {
  if (!existsSync(path))
    throw new CommandError(
      `${path} does not exist. Correct the path; it is relative to the current directory.`,
      EXIT.usage,
    )
  if (!isIn(path, root))
    throw new CommandError(
      `${path} is not in ${root}, whose manifests are read. Name the directory that it is in: ` +
        `pipewright validate --manifests ${usualRootAround(path) ?? (isDirectory(path) ? path : dirname(path))} ${path}`,
      EXIT.usage,
    )
  return relative(resolve(root), resolve(path))
}

/** What to do where there is no such directory. */
function whereElse(root: string): string {
  if (existsSync(root)) return ''
  const around = usualRootAround('.')
  return around === undefined
    ? ' Name it: pipewright validate DIR.'
    : ` You are in one: run "pipewright validate ${around}".`
}

/** Those that the ignore file names; while it cannot be read, the reading says so. */
function ignoredAmong(named: readonly string[], root: string): readonly string[] {
  if (named.length === 0 || !isDirectory(root)) return []
  try {
    const isIgnored = readIgnoreFile(root)
    return named.filter((path) => path !== '' && isIgnored(isDirectory(join(root, path)) ? `${path}/` : path))
  } catch (error) {
    if (error instanceof IgnoreFileError) return []
    throw error
  }
}

function findingsOf(findings: readonly Finding[], named: readonly string[]): readonly Finding[] {
  const wanted = new Set(named)
  return findings.filter(({ file }) => {
    const steps = file.split('/')
    return wanted.has('') || steps.some((_step, i) => wanted.has(steps.slice(0, i + 1).join('/')))
  })
}

/** Suspensions that ended: no finding, since the same manifest was right until then. @param now ms since the epoch */
function endedSuspensions({ entries }: Catalog, manifests: string, now: number): readonly string[] {
  const root = folderOf(manifests)
  return [...entries.values()].flatMap(({ key, manifest, position: { file, line } }) => {
    const until = manifest?.policy?.suspend?.until
    if (until === undefined || Date.parse(until) > now) return []
    return [
      `${join(root, file)}:${line}: the suspension of ${key} ended at ${until}. Remove policy.suspend, or set another end.`,
    ]
  })
}

interface Result {
  /** How many paths were named; 0 for all. */
  readonly paths: number
  readonly findings: readonly Finding[]
  readonly problem: string | undefined
  readonly total: number
}

function show(io: Io, settings: Settings, output: (typeof VALIDATE_OUTPUTS)[number], result: Result): void {
  const { findings, problem, total, paths } = result
  const { manifests } = settings
  const root = folderOf(manifests)
  switch (output) {
    case 'json':
      return printJson(io, { manifests: total, problem, findings: findingsAsJson(findings, root) })
    case 'compact':
      if (problem !== undefined) print(io.stderr, `${manifests}: ${problem}`)
      return findings.length === 0 ? undefined : print(io.stdout, findingsAsCompact(findings, root))
    case 'github':
      return print(io.stdout, findingsAsGithub(findings, inRepository(root, io.env), problem))
    case 'sarif':
      return printJson(
        io,
        findingsAsSarif(findings, {
          root: inRepository(root, io.env),
          version: VERSION,
          problem,
        }),
      )
    case 'text': {
      const paint = paintFor(io.stdout, io.env)
      if (findings.length > 0) print(io.stdout, findingsAsText(findings, root, paint))
      if (problem !== undefined) print(io.stderr, `${manifests}: ${problem}`)
      return total === 0 && findings.length === 0
        ? undefined
        : print(io.stdout, summary(findings, total) + context(manifests, paths))
    }
  }
}

/** A directory as its Git repository names it, whatever the current directory is; outside of one, as it was given. */
function inRepository(dir: string, env: Io['env']): string {
  const absolute = resolve(dir)
  // A checkout of GitHub Actions may come without `.git`.
  const workspace = env['GITHUB_WORKSPACE']
  if (workspace !== undefined && workspace !== '') {
    const below = relative(resolve(workspace), absolute)
    if (below !== '..' && !below.startsWith(`..${sep}`)) return below.split(sep).join('/')
  }
  for (let root = absolute; ; root = dirname(root)) {
    if (existsSync(join(root, '.git'))) return relative(root, absolute).split(sep).join('/')
    if (root === dirname(root)) return dir
  }
}

/** What was read beside what was named. */
function context(root: string, paths: number): string {
  if (paths === 0) return ''
  return ` Read all of ${root}; shown are the findings of ${paths} ${paths === 1 ? 'path' : 'paths'}.`
}

function summary(findings: readonly Finding[], total: number): string {
  const errors = findings.filter((finding) => finding.severity === 'error').length
  const warnings = findings.length - errors
  const manifests = `${total} ${total === 1 ? 'manifest' : 'manifests'}`
  if (findings.length === 0) return `${manifests}, no findings.`
  return `${manifests}, ${errors} ${errors === 1 ? 'error' : 'errors'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}.`
}

const NOTHING_THERE =
  'There are no manifests: no .yaml, .yml or .json file with a document in it. Give the right --manifests DIR.'
