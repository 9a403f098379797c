import { z } from '../../kinds/zod.ts'
import type { Key } from '../../kinds/key.ts'
import { capital, nounOf } from '../../kinds/lookup.ts'
import { timeOf } from '../../kinds/instant.ts'
import { noneWords } from './removal-words.ts'
import { serviceWords, shellWord, type Step, withId } from '../step.ts'
import { A_KEY, A_TIME, MISSING, PROGRESSING, row } from './row.ts'

const NOT_FOUND = z.strictObject({
  key: A_KEY,
  pipeId: z.string(),
  /** When a read found the resource, although `policy.recreate` says that it is gone. */
  refutedAt: A_TIME.optional(),
})

function goneSteps({ pipeId, refutedAt }: z.output<typeof NOT_FOUND>, key: Key): readonly Step[] {
  return [
    { text: 'If you know that it is gone, create a new one:', shell: `resolve ${key} --recreate` },
    refutedAt === undefined
      ? { text: 'Or in Git,', edit: { path: ['policy', 'recreate'], value: pipeId } }
      : {
          text: `policy.recreate has no effect now, because a read found the ${nounOf(key)} at ${timeOf(refutedAt)}. Remove it and commit. After the next check, set it again.`,
        },
  ]
}

function removedStep(key: Key, place: string | undefined): Step {
  return {
    text: `If it was deleted on purpose, remove the manifest${place === undefined ? '' : ` at ${place}`}, then run:`,
    shell: `forget ${key}`,
  }
}

/** Without a count of 404s: a changed text would be reported again. */
function proofWords(isAlone: boolean, noun: string): string {
  return isAlone
    ? `The ${noun} counts as missing after three such replies in a row over at least fifteen minutes. ` +
        `The service has no other ${noun} to show that the API key can still read.`
    : `The ${noun} counts as missing after three such replies in a row over at least a minute, while another ${noun} of the service is found. ` +
        `If none is found, a person decides after fifteen minutes.`
}

export const MISSED = {
  MissingUnconfirmed: row({
    ...PROGRESSING,
    means: 'the resource was not found, and its loss is not confirmed yet',
    facts: NOT_FOUND.extend({ isAlone: z.boolean() }),
    words: (facts, noun) =>
      `${capital(noun)} ${facts.pipeId} was not found. ${proofWords(facts.isAlone, noun)}`,
    steps: (facts, { key }) => (facts === undefined ? [] : goneSteps(facts, key)),
  }),
  Missing: row({
    ...MISSING,
    means: 'the resource is gone',
    facts: z.union([
      z.strictObject({
        pipeId: z.string(),
        onMissing: z.enum(['recreate', 'report']),
        foreign: z.array(z.string()).readonly().optional(),
      }),
      z.strictObject({ onDrift: z.enum(['correct', 'report']) }),
      NOT_FOUND.extend({ until: A_TIME }),
    ]),
    words(facts, noun) {
      if ('onDrift' in facts)
        return `${noneWords(noun)} It was applied before${facts.onDrift === 'correct' ? '. Will be applied again.' : '. It is not applied again: policy.onDrift is not "correct".'}`
      const gone = `${capital(noun)} ${facts.pipeId} is gone`
      if ('until' in facts)
        return `${gone}, shortly after it replaced another ${noun}. A new ${noun} will be created at ${timeOf(facts.until)}.`
      if (facts.foreign !== undefined)
        return `${gone}. It had fields that no manifest can have (${facts.foreign.join(', ')}). Pipewright creates no new ${noun}, because it would lack these fields.`
      return facts.onMissing === 'recreate'
        ? `${gone}. A new one will be created.`
        : `${gone}. No new one is created: policy.onMissing is "report".`
    },
    steps(facts, { key, place, service }) {
      if (facts !== undefined && 'until' in facts)
        return [
          { text: `Find the cause of the removal in the console of ${serviceWords({ service })}.` },
          ...goneSteps(facts, key),
        ]
      const onPurpose = removedStep(key, place)
      if (facts !== undefined && 'onDrift' in facts)
        return [
          { text: 'Check organizationId and serviceId in the Service manifest.' },
          { text: 'To apply it again,', edit: { path: ['policy', 'onDrift'], value: 'correct' } },
          onPurpose,
        ]
      if (facts?.foreign !== undefined)
        return [
          { text: 'Create one in the console, and', edit: { path: ['policy', 'adopt'], value: 'PIPE_ID' } },
          { text: 'Or create it without these fields:', shell: `resolve ${key} --recreate` },
          { text: 'Or in Git,', edit: { path: ['policy', 'recreate'], value: facts.pipeId } },
          onPurpose,
        ]
      return facts?.onMissing === 'recreate'
        ? [onPurpose]
        : [
            { text: 'To create it again,', edit: { path: ['policy', 'onMissing'], value: 'recreate' } },
            onPurpose,
          ]
    },
  }),
  MassMissing: row({
    ...MISSING,
    means: 'too many resources of a service, or of an API key, are not found',
    /** `of: 0`: none was found for fifteen minutes. */
    facts: z.strictObject({ missing: z.number(), of: z.number(), group: z.enum(['service', 'credential']) }),
    words: ({ missing, of, group }, noun) =>
      (of === 0
        ? `No ${noun} of this service was found for fifteen minutes. `
        : `${missing} of ${of} ${noun}s ${group === 'service' ? 'of this service' : 'that this API key can read'} are not found at the same time. `) +
      'The cause might be a lost permission, or a wrong organizationId or serviceId. No missing resource is created again.',
    steps: (_facts, { key, place, service }) => [
      {
        text: `Give the API key of ${serviceWords({ service })} the permission to read, or correct organizationId or serviceId in the Service manifest.`,
      },
      ...(service === undefined
        ? []
        : [{ text: 'Then look at the service:', shell: `status Service/${shellWord(service)}` }]),
      { text: `If you know that ${key} is gone, create a new one:`, shell: `resolve ${key} --recreate` },
      removedStep(key, place),
    ],
  }),
  NeverSeen: row({
    ...MISSING,
    means: 'the resource was created or adopted, and no read has found it yet',
    facts: NOT_FOUND.extend({
      origin: z.enum(['created', 'adopted']),
      at: A_TIME,
      name: z.string().optional(),
    }),
    words: (facts, noun) =>
      `${capital(noun)} ${facts.pipeId} was ${facts.origin} at ${timeOf(facts.at)}, and no read has found it since. It might not be visible yet, ` +
      `or the id might be of another resource. Pipewright creates no new ${noun}.`,
    steps: (facts, about) => [
      withId(
        `Look in the console of ${serviceWords(about)} for the ${nounOf(about.key)}${facts?.name === undefined ? '' : ` "${facts.name}"`}.`,
        about.pipeId,
      ),
      ...(facts === undefined ? [] : goneSteps(facts, about.key)),
      { text: 'If it is there under another id,', edit: { path: ['policy', 'adopt'], value: 'PIPE_ID' } },
    ],
  }),
} as const
