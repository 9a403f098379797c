import { bodyIn, tellingCondition, type Problem, type ResourceView } from '../contract/view.ts'
import type { Finding } from '../kinds/finding.ts'
import { isAlarm } from '../kinds/lookup.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Condition, ConditionType } from '../plan/condition.ts'
import { causeOf, messageOf, stepsOf } from '../plan/reason.ts'
import { type About, placeOf, type Step, type StepContext, withCommands } from '../plan/step.ts'

export interface ShownResource extends Omit<ResourceView, 'because' | 'conditions' | 'dueAt'> {
  readonly message: string
  readonly conditions: Readonly<Record<ConditionType, Condition & { readonly message: string }>>
}

export function shownResource(view: ResourceView, context: StepContext): ShownResource {
  const { because, conditions, dueAt: _, ...facts } = view
  const { Valid, Synced, Ready } = conditions
  const shown = (condition: Condition) => ({ ...condition, message: causeOf(condition, view.key) })
  return {
    ...facts,
    message: messageOf(because, aboutOf(view, context), context),
    conditions: { Valid: shown(Valid), Synced: shown(Synced), Ready: shown(Ready) },
  }
}

export function asListed(
  view: ResourceView,
  problem: Pick<Problem, 'id'> | undefined,
  context: StepContext,
): ShownResource {
  return { ...shownResource(view, context), reply: undefined, problem: problem?.id }
}

export function withBodies(view: ResourceView, desired: JsonObject | undefined, context: StepContext) {
  return { ...shownResource(view, context), reply: undefined, desired, observed: bodyIn(view.reply) }
}

export function causeOfView(view: ResourceView): string {
  const cause = causeOf(view.because, view.key)
  return isAlarm(view.key) ? cause + alertWords(view) : cause
}

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

/** @param findings the first has the place to correct */
export function nextSteps(
  resource: ResourceView,
  context: StepContext,
  findings: readonly Pick<Finding, 'file' | 'line'>[],
): readonly NextStep[] {
  const { because, reason, status, conditions } = resource
  const about = aboutOf(resource, context)
  const shown = (steps: readonly Step[]) => steps.map((step) => nextStep(step, resource, context))
  if (conditions.Valid.status !== 'False') {
    const condition = tellingCondition(resource)
    const facts = condition.reason === reason ? condition.facts : undefined
    const steps = stepsOf({ reason, facts }, about)
    return shown(because.reason === reason ? steps : withoutRepeats([...steps, ...stepsOf(because, about)]))
  }
  const first = findings[0]
  const place = first === undefined ? about.place : placeOf(context.manifestsDir, first.file, first.line)
  const { facts } = conditions.Synced
  return shown([
    { text: 'Correct the manifest. Pipewright then reads it again:', copy: place },
    { text: 'To check it first:', shell: 'validate' },
    ...(status === 'OutcomeUnknown' ? stepsOf({ reason: status, facts }, about) : []),
  ])
}

function withoutRepeats(steps: readonly Step[]): readonly Step[] {
  return [...new Map(steps.map((step) => [step.text, step])).values()]
}

export function aboutOf(resource: ResourceView, { manifestsDir }: StepContext): About {
  const { key, isWritten, file, line, service, pipeId, reply, differences } = resource
  return {
    key,
    isWritten,
    place: file === undefined ? undefined : placeOf(manifestsDir, file, line),
    service,
    pipeId,
    id: pipeId ?? idIn(bodyIn(reply)?.['id']),
    differences,
  }
}

function idIn(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w-]{1,80}$/.test(value) ? value : undefined
}

/** A text ends with a colon only if a text to copy follows. */
function nextStep(step: Step, resource: ResourceView, context: StepContext): NextStep {
  const { text, copy: copied } = withCopy(step, resource, context)
  if (copied !== undefined && !/[\p{Cc}\p{Cf}]/u.test(copied)) return { text, copy: copied }
  return { text: text.replace(/:$/, '.'), copy: undefined }
}

function withCopy({ text, shell, edit, copy }: Step, { file }: ResourceView, context: StepContext): NextStep {
  if (shell !== undefined) return { text, copy: withCommands(`pipewright ${shell}`, context) }
  if (edit === undefined) return { text, copy }
  const place = file === undefined ? 'the manifest' : placeOf(context.manifestsDir, file, undefined)
  const [field = '', ...parents] = edit.path.toReversed()
  return {
    text: `${text} write in ${place}, under \`${parents.toReversed().join('.')}\`:`,
    copy: `${field}: ${edit.value}`,
  }
}
