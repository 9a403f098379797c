import type { Finding } from '../kinds/finding.ts'
import { stepsOf } from '../plan/reason.ts'
import type { About, Step } from '../plan/reasons/row.ts'
import { bodyIn, tellingCondition, type ResourceView } from '../contract/view.ts'
import { commandLine, type CommandContext } from './command-line.ts'

export interface NextStep {
  readonly text: string
  readonly copy: string | undefined
}

export interface StepContext extends CommandContext {
  readonly manifestsDir: string
}

/** @param findings the first has the place to start */
export function nextSteps(
  resource: ResourceView,
  context: StepContext,
  findings: readonly Pick<Finding, 'file' | 'line'>[],
): readonly NextStep[] {
  const { reason, status, conditions } = resource
  const about = aboutOf(resource, context)
  const shown = (steps: readonly Step[]) => steps.map((step) => nextStep(step, resource, context))
  if (conditions.Valid.status !== 'False') {
    const condition = tellingCondition(resource)
    const facts = condition.reason === reason ? condition.facts : undefined
    return shown(stepsOf({ reason, facts }, about))
  }
  const first = findings[0]
  const place = first === undefined ? about.place : placeOf(context.manifestsDir, first.file, first.line)
  const { facts } = conditions.Synced
  return shown([
    { text: 'Correct it. Pipewright then reads it again:', copy: place },
    { text: 'To check before:', shell: 'validate' },
    ...(status === 'OutcomeUnknown' ? stepsOf({ reason: status, facts }, about) : []),
  ])
}

/** `dir/file:line`, as editors and terminals open it. */
export function placeOf(dir: string, file: string, line: number | undefined): string {
  const path = dir === '' || dir === '.' ? file : `${dir.replace(/\/$/, '')}/${file}`
  return line === undefined ? path : `${path}:${line}`
}

function aboutOf(resource: ResourceView, { manifestsDir, manifests = manifestsDir }: StepContext): About {
  const { key, isWritten, file, line, service, pipeId, reply, differences } = resource
  return {
    key,
    isWritten,
    place: file === undefined ? 'its manifest' : placeOf(manifestsDir, file, line),
    directory: manifests,
    service,
    pipeId,
    id: pipeId ?? idIn(bodyIn(reply)?.['id']),
    differences,
  }
}

function idIn(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w-]{1,80}$/.test(value) ? value : undefined
}

/** A final colon announces the copy. */
function nextStep(step: Step, resource: ResourceView, context: StepContext): NextStep {
  const { text, copy: copied } = withCopy(step, resource, context)
  if (copied !== undefined && !/[\p{Cc}\p{Cf}]/u.test(copied)) return { text, copy: copied }
  return { text: text.replace(/:$/, '.'), copy: undefined }
}

function withCopy({ text, shell, edit, copy }: Step, { file }: ResourceView, context: StepContext): NextStep {
  if (shell !== undefined) return { text, copy: commandLine(shell, context) }
  if (edit === undefined) return { text, copy }
  const place = file === undefined ? 'the manifest' : placeOf(context.manifestsDir, file, undefined)
  const [field = '', ...parents] = edit.path.toReversed()
  return {
    text: `${text} In ${place}, under \`${parents.toReversed().join('.')}\`, write:`,
    copy: `${field}: ${edit.value}`,
  }
}
