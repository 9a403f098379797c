import { z } from '../../kinds/zod.ts'
import { capital, nounOf } from '../../kinds/lookup.ts'
import { timeOf } from '../../kinds/instant.ts'
import { noneWords } from './access.ts'
import { A_KEY, A_TIME, MISSING, PROGRESSING, row, serviceWords, shellWord, withId } from './row.ts'

const NOT_FOUND = z.strictObject({
  key: A_KEY,
  pipeId: z.string(),
  /** When a read found it despite `policy.recreate`. */
  refutedAt: A_TIME.optional(),
})

const SAMPLE = { key: 'Pipe/orders', pipeId: 'ID' } as const

function goneWords({ key, pipeId, refutedAt }: z.output<typeof NOT_FOUND>): string {
  const inGit =
    refutedAt === undefined
      ? `set policy.recreate: ${pipeId}`
      : `remove policy.recreate and add it again: the ${nounOf(key)} was found at ${timeOf(refutedAt)}, after it was set`
  return `If you know that it is gone, run "pipewright resolve ${key} --recreate", or ${inGit}.`
}

/** Equal at each read and in each process: a changed text would be news. */
function proofWords(isAlone: boolean, noun: string): string {
  return isAlone
    ? 'It counts as missing after three such answers in a row over at least fifteen minutes. The service has no other ' +
        `${noun} to show that the permission to read still works.`
    : `It counts as missing after three such answers in a row over at least a minute, while another ${noun} of the service is ` +
        'found. If none is found, the permission to read might be lost.'
}

export const MISSED = {
  MissingUnconfirmed: row({
    ...PROGRESSING,
    means: 'the resource was not found; not confirmed yet',
    facts: NOT_FOUND.extend({ /** The service has no other resource as witness. */ isAlone: z.boolean() }),
    sample: { ...SAMPLE, isAlone: false },
    words: (facts, noun) =>
      `${capital(noun)} ${facts.pipeId} was not found. ${proofWords(facts.isAlone, noun)} ${goneWords(facts)}`,
  }),
  Missing: row({
    ...MISSING,
    means: 'the resource is gone',
    facts: z.union([
      z.strictObject({
        pipeId: z.string(),
        onMissing: z.enum(['recreate', 'report']),
        /** No manifest can have them. */
        foreign: z.array(z.string()).readonly().optional(),
      }),
      z.strictObject({ onDrift: z.enum(['correct', 'report']) }),
      /** Gone again, soon after it replaced another one. */
      NOT_FOUND.extend({ until: A_TIME }),
    ]),
    sample: { pipeId: 'ID', onMissing: 'report' },
    words(facts, noun) {
      if ('onDrift' in facts)
        return facts.onDrift === 'correct'
          ? `${noneWords(noun)} It was applied before. Will be applied again.`
          : `${noneWords(noun)} It was applied before, and policy.onDrift is not "correct": set it to have it applied again.`
      if ('until' in facts)
        return (
          `${capital(noun)} ${facts.pipeId} is gone, shortly after it replaced another one. Find out what removes it. A new one will be created at ` +
          `${timeOf(facts.until)}. ${goneWords(facts)}`
        )
      const { pipeId, onMissing, foreign } = facts
      if (foreign !== undefined)
        return (
          `${capital(noun)} ${pipeId} is gone. It had fields that no manifest can have (${foreign.join(', ')}), and a new one would lack them. ` +
          `So none is created automatically. Create one in the console and set policy.adopt: ID. To have one without these fields, set policy.recreate: ${pipeId}.`
        )
      return onMissing === 'recreate'
        ? `${capital(noun)} ${pipeId} is gone. A new one will be created.`
        : `${capital(noun)} ${pipeId} is gone, and policy.onMissing is "report". Set it to "recreate" to have it created again.`
    },
    steps: (facts, { key, place, service }) => {
      if (facts !== undefined && 'until' in facts)
        return [
          {
            text: `Find out what removes the ${nounOf(key)}: look in the console of ${serviceWords({ service })}. A new one is created automatically later.`,
          },
          { text: 'To create it now:', shell: `resolve ${key} --recreate` },
        ]
      return [
        facts !== undefined && 'onDrift' in facts
          ? {
              text: 'Check organizationId and serviceId in the Service manifest. To have it applied again, say so in its manifest.',
              edit: { path: ['policy', 'onDrift'], value: 'correct' },
            }
          : facts !== undefined && facts.foreign !== undefined
            ? {
                text: 'Create one in the console, and adopt it. Or have one without these fields:',
                shell: `resolve ${key} --recreate`,
              }
            : {
                text: 'To have it created again, say so in its manifest.',
                edit: { path: ['policy', 'onMissing'], value: 'recreate' },
              },
        { text: `If it was deleted on purpose, remove it from ${place}, then run:`, shell: `forget ${key}` },
      ]
    },
  }),
  MassMissing: row({
    ...MISSING,
    means: 'too many resources of a service, or of an API key, are not found',
    facts: z.strictObject({ missing: z.number(), of: z.number(), group: z.enum(['service', 'credential']) }),
    sample: { missing: 3, of: 5, group: 'service' },
    words: ({ missing, of, group }, noun) =>
      `${missing} of ${of} ${noun}s ${group === 'service' ? 'of this service' : 'that this API key can read'} are not found at the same time. ` +
      'This looks like a lost permission, or a wrong organizationId or serviceId, so no resource is created. ' +
      'Check the Service manifest and the API key.',
    steps: (_facts, about) => [
      {
        text: `Check what the API key of ${serviceWords(about)} may read, and organizationId and serviceId in its manifest. Then run:`,
        shell: `status Service/${shellWord(about.service ?? '')}`,
      },
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
    sample: { ...SAMPLE, origin: 'created', at: 0, name: 'orders' },
    words: (facts, noun) =>
      `${capital(noun)} ${facts.pipeId} was ${facts.origin} at ${timeOf(facts.at)}, and no read has found it since. It may not be visible yet, ` +
      `or the id may belong to something else. It is not replaced automatically. Look for ${noun} "${facts.name}" in the ` +
      `console. ${goneWords(facts)} If it is there under another id, set policy.adopt: <that id>.`,
    steps: (_facts, about) => [
      withId(`Look in the console of ${serviceWords(about)} for the ${nounOf(about.key)}.`, about.pipeId),
      { text: 'If it is gone, create a new one:', shell: `resolve ${about.key} --recreate` },
      {
        text: 'If it is there under another id, adopt that one.',
        edit: { path: ['policy', 'adopt'], value: 'PIPE_ID' },
      },
    ],
  }),
} as const
