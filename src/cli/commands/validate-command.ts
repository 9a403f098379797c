import { countFindings, plural } from '../../server/api/overview.ts'
import type { Settings } from '../../config/settings.ts'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { addAbortSignal } from 'node:stream'
import type { Finding } from '../../kinds/finding.ts'
import type { Catalog } from '../../contract/catalog.ts'
import { folderOf } from '../command-context.ts'
import { openSource } from '../compose.ts'
import { shellWord } from '../../plan/step.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson, VERSION, misuse } from '../io.ts'
import {
  findingsAsCompact,
  findingsAsGithub,
  findingsAsJson,
  findingsAsSarif,
  findingsAsText,
} from '../render/findings-text.ts'
import { DEFAULT_LIMITS } from '../../manifest/yaml/limits.ts'
import { IGNORE_FILE, IgnoreFileError, readIgnoreFile } from '../../manifest/files/ignore-file.ts'
import { MANIFEST } from '../../manifest/files/walk.ts'
import { isBelow } from '../../lib/files.ts'
import { createProgress } from '../render/progress.ts'
import { paintFor } from '../render/terminal.ts'

type Output = 'text' | 'compact' | 'json' | 'github' | 'sarif'

/** The directory to read: `manifests`, else the only path, else the folder of the given files. */
function scopeOf(
  { manifests: root }: Settings,
  paths: readonly string[],
): { readonly root: string; readonly paths: readonly string[] } {
  const [only] = paths
  if (only === undefined) return { root, paths }
  const folder = dirname(only)
  if (
    !existsSync(root) &&
    paths.every((path) => existsSync(path) && !isDirectory(path) && isBelow(path, folder))
  )
    return { root: rootAround(folder, root), paths }
  if (paths.length > 1) return { root, paths }
  const isFolder = existsSync(only) ? isDirectory(only) : !MANIFEST.test(only)
  const isInside = resolve(only) !== resolve(root) && isBelow(only, root) && isDirectory(root)
  return isFolder && !isInside ? { root: only, paths: [] } : { root, paths }
}

function rootAround(folder: string, name: string): string {
  for (let dir = resolve(folder); dir !== dirname(dir); dir = dirname(dir))
    if (basename(dir) === name) return relative('.', dir) || '.'
  return folder
}

export async function validate(
  io: Io,
  asked: Settings,
  flags: { readonly output: Output },
  words: readonly string[],
): Promise<ExitCode> {
  using input = words.join() === '-' ? await storeInput(io) : undefined
  const { root, paths } = scopeOf(asked, input === undefined ? words : [input.folder])
  const settings = { ...asked, manifests: root }
  const named = paths.map((path) => belowRoot(path, settings.manifests))
  for (const path of ignoredAmong(named, settings.manifests))
    print(io.stderr, `${path} is not read: ${IGNORE_FILE} lists it.`)
  using progress = createProgress(io)
  const source = openSource(settings, undefined, progress)
  const { state } = await source.load(new Map(), { accept: 'normal' }, io.stop.stopping)
  progress[Symbol.dispose]()
  const { catalog, counts } = state
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  for (const text of endedSuspensions(catalog, settings.manifests, Date.now())) print(io.stderr, text)
  const problem =
    catalog.problem?.message ??
    (total === 0 && catalog.findings.length === 0 ? (input?.nothing ?? NOTHING_THERE) : undefined)
  const findings = named.length === 0 ? catalog.findings : findingsOf(catalog.findings, named)
  const errors = findings.filter((finding) => finding.severity === 'error')
  const shown = input === undefined ? settings : { ...settings, manifests: '' }
  show(io, shown, flags.output, { findings, problem, total, paths: named.length })
  return errors.length > 0 || problem !== undefined ? EXIT.failed : EXIT.fine
}

async function storeInput({ stop }: Io) {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of addAbortSignal(stop.stopping, process.stdin)) {
    chunks.push(chunk as Buffer) // it has no encoding
    length += (chunk as Buffer).length
    if (length > DEFAULT_LIMITS.fileBytes) break // a finding of the file says it
  }
  const folder = mkdtempSync(join(tmpdir(), 'pipewright-'))
  writeFileSync(join(folder, 'stdin.yaml'), Buffer.concat(chunks))
  const nothing = 'Standard input has no manifest. Pipe a manifest to it, or name a directory.'
  return { folder, nothing, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

/** The path relative to `root`. @throws {CommandError} if the path is not read */
function belowRoot(path: string, root: string): string {
  if (!existsSync(path))
    misuse(`${path} does not exist. Correct the path. It is relative to the current directory.`)
  if (!isBelow(path, root))
    misuse(
      `${path} is not in ${root}, the directory of the manifests. Name its directory: ` +
        `"pipewright validate --manifests ${shellWord(isDirectory(path) ? path : dirname(path))} ${shellWord(path)}".`,
    )
  const named = relative(resolve(root), resolve(path))
  if (/(?:^|\/)\./.test(named) || (named !== '' && !isDirectory(path) && !MANIFEST.test(path)))
    throw new CommandError(
      `${path} is not read. Pipewright reads .yaml, .yml and .json files, except hidden files and kustomization.yaml.`,
    )
  return named
}

/** The paths that the ignore file lists. Empty if that file is unreadable. */
function ignoredAmong(named: readonly string[], root: string): readonly string[] {
  if (!isDirectory(root)) return []
  try {
    const { isIgnored } = readIgnoreFile(root)
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

/** @param now ms since the epoch */
function endedSuspensions({ entries }: Catalog, manifests: string, now: number): readonly string[] {
  const root = folderOf(manifests)
  return [...entries.values()].flatMap(({ key, manifest, position: { file, line } }) => {
    const until = manifest?.policy?.suspend?.until
    if (until === undefined || Date.parse(until) > now) return []
    return [
      `${join(root, file)}:${line}: the suspension of ${key} ended at ${until}. Remove policy.suspend, or set a later "until".`,
    ]
  })
}

function show(
  io: Io,
  settings: Settings,
  output: Output,
  result: {
    /** Number of paths in the command. 0: the whole directory was validated. */
    readonly paths: number
    readonly findings: readonly Finding[]
    readonly problem: string | undefined
    readonly total: number
  },
): void {
  const { findings, problem, total, paths } = result
  const { manifests } = settings
  const root = folderOf(manifests)
  const whole = manifests || 'stdin'
  switch (output) {
    case 'json':
      return printJson(io, { manifests: total, problem, findings: findingsAsJson(findings, root) })
    case 'compact':
      if (problem !== undefined) print(io.stderr, `${whole}: ${problem}`)
      return findings.length === 0 ? undefined : print(io.stdout, findingsAsCompact(findings, root))
    case 'github':
      return print(io.stdout, findingsAsGithub(findings, inRepository(root, io.env), problem))
    case 'sarif': {
      const about = { root: inRepository(root, io.env), version: VERSION, problem }
      return printJson(io, findingsAsSarif(findings, about))
    }
    case 'text': {
      const paint = paintFor(io)
      if (findings.length > 0) print(io.stdout, findingsAsText(findings, root, paint))
      if (problem !== undefined) print(io.stderr, `${whole}: ${problem}`)
      if (total === 0 && findings.length === 0) return
      const of = ` All of ${manifests} was read. Only the findings of ${plural(paths, 'path')} are shown.`
      print(io.stdout, summary(findings, total) + (paths === 0 ? '' : of))
    }
  }
}

/** The path relative to the Git repository. Outside of a repository, unchanged. */
function inRepository(dir: string, env: Io['env']): string {
  const absolute = resolve(dir)
  // A checkout of GitHub Actions can lack `.git`.
  const workspace = env['GITHUB_WORKSPACE']
  if (workspace !== undefined && workspace !== '') {
    const root = resolve(workspace)
    if (isBelow(absolute, root)) return relative(root, absolute).split(sep).join('/')
  }
  for (let root = absolute; ; root = dirname(root)) {
    if (existsSync(join(root, '.git'))) return relative(root, absolute).split(sep).join('/')
    if (root === dirname(root)) return dir
  }
}

function summary(findings: readonly Finding[], total: number): string {
  const { error, warning } = countFindings(findings)
  const counts =
    findings.length === 0 ? 'no findings' : `${plural(error, 'error')}, ${plural(warning, 'warning')}`
  return `${plural(total, 'manifest')}, ${counts}.`
}

const NOTHING_THERE =
  'There are no manifests: no .yaml, .yml or .json file with a document in it. Give the right --manifests DIR.'

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
