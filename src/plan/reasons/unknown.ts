import { z } from '../../kinds/zod.ts'
import { anyOf, nounOf } from '../../kinds/lookup.ts'
import { timeOf } from '../../kinds/instant.ts'
import { type About, serviceWords, type Step } from '../step.ts'
import { A_KEY, A_TIME, INNER_REASON, row } from './row.ts'

export const UNKNOWN_ATTEMPT = z.strictObject({
  intentId: z.string(),
  openedAt: A_TIME,
  requestId: z.string().optional(),
  seen: z.string(),
  /** Id in the reply, perhaps of the new resource. */
  pipeId: z.string().optional(),
})

export const UNKNOWN_OUTCOME = UNKNOWN_ATTEMPT.extend({
  key: A_KEY,
  name: z.string(),
  service: z.strictObject({ name: z.string(), serviceId: z.string() }).optional(),
  file: z.string().optional(),
  olderIds: z.array(z.string()).readonly(),
  /** Includes a tolerance for the platform's clock. */
  createdAfter: A_TIME,
  retryFrom: A_TIME,
  saidEarlyAt: A_TIME.optional(),
  before: INNER_REASON.optional(),
})

export type UnknownAttempt = z.output<typeof UNKNOWN_ATTEMPT>
type UnknownOutcome = z.output<typeof UNKNOWN_OUTCOME>

export function attemptWords({ openedAt, intentId, requestId, seen }: UnknownAttempt): string {
  const request = requestId === undefined ? '' : `, request ${requestId}`
  return `sent at ${timeOf(openedAt)} (intent ${intentId}${request}): ${seen}`
}

export function unknownWords({ key, name, service, ...attempt }: UnknownOutcome): string {
  const noun = nounOf(key)
  const where = service === undefined ? '' : ` in service ${service.name} (${service.serviceId})`
  return (
    `It is unknown whether the ${noun} "${name}" was created${where}. The create was ${attemptWords(attempt)}. ` +
    `No second create is sent until the outcome is known, because it might make a second ${noun}.`
  )
}

export function unknownSteps(unknown: UnknownOutcome | undefined, about: About): readonly Step[] {
  const { key } = about
  const noun = nounOf(key)
  const service = unknown?.service?.name ?? about.service
  const others =
    unknown === undefined || unknown.olderIds.length === 0
      ? ''
      : ` and is not one of these older ones: ${unknown.olderIds.join(', ')}`
  const what =
    unknown === undefined
      ? `the ${noun}`
      : `${anyOf(noun)} "${unknown.name}" that was created after ${timeOf(unknown.createdAfter)}${others}`
  const after = unknown === undefined ? '' : ` after ${timeOf(unknown.retryFrom)}`
  const id = unknown?.pipeId
  return [
    ...(id === undefined
      ? []
      : [
          {
            text: `The reply named ${noun} ${id}. If it is the new one, adopt it:`,
            shell: `resolve ${key} --adopt ${id}`,
          },
        ]),
    {
      text: `Look in the console of ${serviceWords({ service })} for ${what}. If it is there, adopt it:`,
      shell: `resolve ${key} --adopt PIPE_ID`,
    },
    { text: `If it is not there${after}, create it again:`, shell: `resolve ${key} --retry` },
    { text: 'Or in Git, if it is there,', edit: { path: ['policy', 'adopt'], value: 'PIPE_ID' } },
    ...(unknown === undefined ? [] : [retryInGit(unknown)]),
  ]
}

function retryInGit({ key, intentId, retryFrom, saidEarlyAt }: UnknownOutcome): Step {
  const text =
    saidEarlyAt === undefined
      ? `Or in Git, if it is not there after ${timeOf(retryFrom)},`
      : `policy.retryCreate has no effect: it was already set at ${timeOf(saidEarlyAt)}, when the create could still arrive. ` +
        `Remove it and commit. If the ${nounOf(key)} is still not in the console after ${timeOf(retryFrom)},`
  return { text, edit: { path: ['policy', 'retryCreate'], value: intentId } }
}

export const UNKNOWN = {
  OutcomeUnknown: row({
    status: 'OutcomeUnknown',
    severity: 'critical',
    alert: 'PipewrightOutcomeUnknown',
    means: 'it is unknown whether a create worked',
    facts: UNKNOWN_OUTCOME,
    words: (facts, _noun, tell) =>
      `${facts.before === undefined ? '' : `${tell(facts.before)} `}${unknownWords(facts)}`,
    steps: unknownSteps,
  }),
} as const
