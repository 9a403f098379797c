import { z } from '../../kinds/zod.ts'
import { anyOf, nounOf } from '../../kinds/lookup.ts'
import { timeOf } from '../../kinds/instant.ts'
import { A_KEY, A_TIME, INNER_REASON, row, serviceWords, type Step, type Tell, type Words } from './row.ts'

export const UNKNOWN_ATTEMPT = z.strictObject({
  intentId: z.string(),
  openedAt: A_TIME,
  requestId: z.string().optional(),
  seen: z.string(),
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

export function unknownWords(unknown: UnknownOutcome, tell?: Tell): Words {
  const { key, name, service, file, olderIds, saidEarlyAt, intentId, before } = unknown
  const noun = nounOf(key)
  const where = service === undefined ? '' : ` in service ${service.name} (${service.serviceId})`
  const others = olderIds.length === 0 ? '' : ` and is not one of these older ones: ${olderIds.join(', ')}`
  const since = timeOf(unknown.createdAfter)
  const inGit = `under policy: in ${file ?? 'its manifest'}`
  const early =
    saidEarlyAt === undefined
      ? ''
      : ` The line "retryCreate: ${intentId}" was already there at ${timeOf(saidEarlyAt)}, when the request could still arrive. ` +
        'Check once more, remove the line, and add it again.'
  return {
    cause:
      `${before && tell ? `${tell(before)} ` : ''}It is unknown whether the ${noun} "${name}" was created${where}. ` +
      `The create was ${attemptWords(unknown)}. Look in the console for ${anyOf(noun)} "${name}" that was created after ${since}${others}.`,
    remedy:
      `If it is there, run "pipewright resolve ${key} --adopt <its id>", or write this line ${inGit}: "adopt: <its id>". ` +
      `If it is not there after ${timeOf(unknown.retryFrom)}, run "pipewright resolve ${key} --retry", or write this line ${inGit}: ` +
      `"retryCreate: ${intentId}".${early}`,
  }
}

function retryInGit({ key, intentId, retryFrom, saidEarlyAt }: UnknownOutcome): Step {
  return saidEarlyAt === undefined
    ? {
        text: `Or in Git, if it is not there, but not before ${timeOf(retryFrom)}.`,
        edit: { path: ['policy', 'retryCreate'], value: intentId },
      }
    : {
        text:
          `The line "retryCreate" was already there at ${timeOf(saidEarlyAt)}, when the request could still arrive, and does not ` +
          `count. Remove it and commit that. If the ${nounOf(key)} is still not there after ${timeOf(retryFrom)}, add it again.`,
        edit: { path: ['policy', 'retryCreate'], value: intentId },
      }
}

export const UNKNOWN = {
  OutcomeUnknown: row({
    status: 'OutcomeUnknown',
    severity: 'critical',
    alert: 'PipewrightOutcomeUnknown',
    means: 'it is unknown whether a create worked',
    facts: UNKNOWN_OUTCOME,
    sample: {
      key: 'Pipe/orders',
      name: 'orders',
      intentId: 'ID',
      openedAt: 0,
      seen: 'cut',
      olderIds: [],
      createdAfter: 0,
      retryFrom: 0,
    },
    words: (facts, _noun, tell) => unknownWords(facts, tell),
    steps: (facts, about) => [
      {
        text: `No request is sent until you decide: a retry could create a second ${nounOf(about.key)}. Look in the console of ${serviceWords(about)}. If the ${nounOf(about.key)} is there, adopt it:`,
        shell: `resolve ${about.key} --adopt PIPE_ID`,
      },
      {
        text: `If it is not there${facts === undefined ? '' : ` after ${timeOf(facts.retryFrom)}`}, create it again:`,
        shell: `resolve ${about.key} --retry`,
      },
      {
        text: 'Or in Git, if it is there.',
        edit: { path: ['policy', 'adopt'], value: 'PIPE_ID' },
      },
      ...(facts === undefined ? [] : [retryInGit(facts)]),
    ],
  }),
} as const
