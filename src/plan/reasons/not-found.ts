import { z } from '../../kinds/zod.ts'
import { timeOf } from '../../kinds/instant.ts'
import { A_KEY, A_TIME, MISSING, only, PROGRESSING, row, serviceWords, shellWord, withId } from './row.ts'

/** A pipe that is not found, and what a person can say of it. */
const NOT_FOUND = z.strictObject({
  key: A_KEY,
  pipeId: z.string(),
  /** When a reading found it although a line in Git says that it is gone. */
  refutedAt: A_TIME.optional(),
})

const SAMPLE = { key: 'Pipe/orders', pipeId: 'ID' } as const

/** What a person says to end the wait. */
function goneWords({ key, pipeId, refutedAt }: z.output<typeof NOT_FOUND>): string {
  const inGit =
    refutedAt === undefined
      ? `set policy.recreate: ${pipeId}`
      : `take policy.recreate out and write it again: it was there already when the pipe was found at ${timeOf(refutedAt)}`
  return `If you know that it is gone, run "pipewright resolve ${key} --recreate", or ${inGit}.`
}

/** The same at each reading, and in each process: a text that changed would be news. */
function proofWords(isAlone: boolean): string {
  return isAlone
    ? 'That is believed after three answers in a row over at least fifteen minutes, since the service has no other pipe ' +
        'whose answer would show that the permission to read is not what was lost.'
    : 'That is believed after three answers in a row over at least a minute, while another pipe of the service is found. As long as ' +
        'none is found, the permission to read may be what is lost.'
}

/** What a 404 is taken for. */
export const MISSED = {
  MissingUnconfirmed: row({
    ...PROGRESSING,
    means: 'the pipe was not found; not believed yet',
    facts: NOT_FOUND.extend({ /** The service has no other pipe to ask for. */ isAlone: z.boolean() }),
    sample: { ...SAMPLE, isAlone: false },
    words: (facts) =>
      only(`Pipe ${facts.pipeId} was not found. ${proofWords(facts.isAlone)} ${goneWords(facts)}`),
  }),
  Missing: row({
    ...MISSING,
    means: 'the pipe is gone',
    facts: z.strictObject({ pipeId: z.string(), onMissing: z.enum(['recreate', 'report']) }),
    sample: { pipeId: 'ID', onMissing: 'report' },
    words: ({ pipeId, onMissing }) =>
      only(
        onMissing === 'recreate'
          ? `Pipe ${pipeId} is gone; a new one is created.`
          : `Pipe ${pipeId} is gone, and policy.onMissing says to report only. Set it to "recreate" to have it created anew.`,
      ),
    steps: (_facts, { key, place }) => [
      {
        text: 'If it is to exist, have it created again; in its manifest:',
        git: 'policy: {onMissing: recreate}',
      },
      { text: `If it was deleted on purpose, remove it from ${place}, and then:`, shell: `forget ${key}` },
    ],
  }),
  MassMissing: row({
    ...MISSING,
    means: 'too many pipes of a service, or of a credential, are not found at once',
    facts: z.strictObject({ missing: z.number(), of: z.number(), group: z.enum(['service', 'credential']) }),
    sample: { missing: 3, of: 5, group: 'service' },
    words: ({ missing, of, group }) =>
      only(
        `${missing} of ${of} pipes ${group === 'service' ? 'of this service' : 'that this API key can read'} are not found at once. ` +
          'That looks like a lost permission or a wrong organizationId or serviceId, not like so many deletions; nothing is created. ' +
          'Check the Service manifest and the key.',
      ),
    steps: (_facts, about) => [
      {
        text: `Many pipes at once are a lost permission or a wrong id. Check what the API key of ${serviceWords(about)} may read, and organizationId and serviceId of its manifest; then look again:`,
        shell: `status Service/${shellWord(about.service ?? '')}`,
      },
    ],
  }),
  NeverSeen: row({
    ...MISSING,
    means: 'the pipe was created, and no reading has found it yet',
    facts: NOT_FOUND.extend({
      origin: z.enum(['created', 'adopted']),
      at: A_TIME,
      /** On the platform. */
      name: z.string().optional(),
    }),
    sample: { ...SAMPLE, origin: 'created', at: 0, name: 'orders' },
    words: (facts) =>
      only(
        `Pipe ${facts.pipeId} was ${facts.origin} at ${timeOf(facts.at)}, and no reading has found it so far. It may not be visible yet, ` +
          `or the id may be that of something else; it is never replaced by itself. Look for pipe "${facts.name}" in the ` +
          `console. ${goneWords(facts)} If it is there under another id, set policy.adopt: <that id>.`,
      ),
    steps: (_facts, about) => [
      withId(`Look in the console of ${serviceWords(about)} for the pipe.`, about.pipeId),
      { text: 'If it is gone, have a new one created:', shell: `resolve ${about.key} --recreate` },
      { text: 'If it is there under another id:', git: 'policy: {adopt: PIPE_ID}' },
    ],
  }),
  ReplacedRecently: row({
    ...MISSING,
    means: 'the pipe is gone again, soon after it was replaced',
    facts: NOT_FOUND.extend({ until: A_TIME }),
    sample: { ...SAMPLE, until: 0 },
    words: (facts) =>
      only(
        `Pipe ${facts.pipeId} is gone, and it replaced another one a short time ago. Find out what removes it. A new one is created at ` +
          `${timeOf(facts.until)}. ${goneWords(facts)}`,
      ),
    steps: (_facts, about) => [
      {
        text: `Find out what removes the pipe: look in the console of ${serviceWords(about)}. It is created again by itself later.`,
      },
      { text: 'To have it created now:', shell: `resolve ${about.key} --recreate` },
    ],
  }),
} as const
