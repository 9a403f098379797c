import type { Settings } from '../../config/settings.ts'
import type { Finding } from '../../kinds/finding.ts'
import { openSource } from '../compose.ts'
import { EXIT, type ExitCode, type Io, print, printJson, VERSION } from '../io.ts'
import { findingsAsGithub, findingsAsSarif, findingsAsText } from '../render/findings-text.ts'
import { createProgress } from '../render/progress.ts'
import { paintFor } from '../render/terminal.ts'

export const VALIDATE_OUTPUTS = ['text', 'json', 'github', 'sarif'] as const

/** `pipewright validate [path]`: all findings of all manifests, without talking to anything. */
export async function validate(
  io: Io,
  settings: Settings,
  output: (typeof VALIDATE_OUTPUTS)[number],
): Promise<ExitCode> {
  using progress = createProgress(io)
  const source = openSource(settings, progress)
  const { state, counts } = await source.load(new Map(), { accept: 'normal' }, io.stop.stopping)
  progress[Symbol.dispose]()
  const { catalog } = state
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const problem =
    catalog.problem?.message ?? (total === 0 && catalog.findings.length === 0 ? NOTHING_THERE : undefined)
  const errors = catalog.findings.filter((finding) => finding.severity === 'error')
  show(io, settings, output, { findings: catalog.findings, problem, total })
  return errors.length > 0 || problem !== undefined ? EXIT.failed : EXIT.fine
}

interface Result {
  readonly findings: readonly Finding[]
  readonly problem: string | undefined
  readonly total: number
}

function show(io: Io, settings: Settings, output: (typeof VALIDATE_OUTPUTS)[number], result: Result): void {
  const { findings, problem, total } = result
  switch (output) {
    case 'json':
      return printJson(io, { manifests: total, problem, findings })
    case 'github':
      return print(io.stdout, findingsAsGithub(findings, settings.manifests, problem))
    case 'sarif':
      return printJson(io, findingsAsSarif(findings, { root: settings.manifests, version: VERSION, problem }))
    case 'text': {
      const paint = paintFor(io.stdout, io.env)
      if (findings.length > 0) print(io.stdout, findingsAsText(findings, settings.manifests, paint))
      if (problem !== undefined) print(io.stderr, `${settings.manifests}: ${problem}`)
      return total === 0 && findings.length === 0 ? undefined : print(io.stdout, summary(findings, total))
    }
  }
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
