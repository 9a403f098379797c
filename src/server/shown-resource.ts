import { bodyIn, tellingCondition, type Problem, type ResourceView } from '../contract/view.ts'
import type { Finding } from '../kinds/finding.ts'
import { isAlarm } from '../kinds/lookup.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Condition, ConditionType } from '../plan/condition.ts'
import { messageOf, stepsOf, wordsOf } from '../plan/reason.ts'
import { type About, causeIn, joined, type Step } from '../plan/reasons/row.ts'
import { commandLine, commandsTyped, type CommandContext } from './command-line.ts'

export interface ShownResource extends Omit<ResourceView, 'because' | 'conditions'> {
  readonly message: string
  readonly conditions: Readonly<Record<ConditionType, Condition & { readonly message: string }>>
}

export function shownResource(view: ResourceView, context: CommandContext): ShownResource {
  const { because, conditions, ...facts } = view
  const { Valid, Synced, Ready } = conditions
  const message = (explanation: ResourceView['because']) =>
    commandsTyped(messageOf(explanation, view.key), context)
  const shown = (condition: Condition) => ({ ...condition, message: message(condition) })
  return {
    ...facts,
    message: message(because),
    conditions: { Valid: shown(Valid), Synced: shown(Synced), Ready: shown(Ready) },
  }
}

export function asListed(
  view: ResourceView,
  problem: Pick<Problem, 'id'> | undefined,
  context: CommandContext,
): ShownResource {
  return { ...shownResource(view, context), reply: undefined, problem: problem?.id }
}

export function withBodies(view: ResourceView, desired: JsonObject | undefined, context: CommandContext) {
  return { ...shownResource(view, context), reply: undefined, desired, observed: bodyIn(view.reply) }
}

/** Without the way out: the steps repeat it. */
export function causeOf(view: ResourceView, context: CommandContext): string {
  const { key, because, status, conditions } = view
  const { reason } = status === 'OutcomeUnknown' ? conditions.Synced : tellingCondition(view)
  const words = wordsOf(because, key)
  // Of something else, such as a wait: whole.
  const cause = commandsTyped(because.reason === reason ? causeIn(words) : joined(words), context)
  return isAlarm(key) ? cause + alertWords(view) : cause
}

/** An alert's own text, while it fires. */
function alertWords({ reply, conditions: { Synced, Ready } }: ResourceView): string {
  const body = Synced.status !== 'Unknown' && Ready.status === 'False' ? bodyIn(reply) : undefined
  const [name, message] = [body?.['name'], body?.['message']]
  if (typeof name !== 'string') return ''
  return ` On the platform it is "${name}"${typeof message === 'string' && message !== '' ? `: ${message}` : ''}.`
}

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
