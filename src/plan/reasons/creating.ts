import { capital } from '../../kinds/lookup.ts'
import { z } from '../../kinds/zod.ts'
import { ACCESS, accessWords, noneWords } from './access.ts'
import { only, PROGRESSING, row, WELL } from './row.ts'

const ATTEMPT = z.strictObject({ attempt: z.number() })
const PIPE = z.strictObject({ pipeId: z.string() })

const PAUSED = {
  'from the start': () => ', paused',
  'after the start': (noun: string) =>
    `. The service starts each new ${noun} of this source: it is stopped right after`,
} as const

export const CREATING = {
  New: row({
    ...PROGRESSING,
    means: 'it does not exist yet',
    facts: z.strictObject({
      is: z.enum(['created', 'applied']),
      /** Only if it was read. */
      there: z.union([z.literal('none'), ACCESS]).optional(),
      paused: z.enum(Object.keys(PAUSED) as [keyof typeof PAUSED]).optional(), // the keys of an object literal
    }),
    sample: { is: 'created' },
    words: ({ is, there, paused }, noun) => {
      if (is === 'created') return only(`Will be created${paused === undefined ? '' : PAUSED[paused](noun)}.`)
      if (there === undefined) return only('Will be applied. This replaces whatever is configured there now.')
      return only(
        there === 'none'
          ? `${noneWords(noun)} Will be applied.`
          : `The service has a ${noun} already. Will be applied.${accessWords(there)}`,
      )
    },
  }),
  Adopt: row({
    ...PROGRESSING,
    means: 'its manifest or a Lock names an existing resource to adopt',
    facts: PIPE.extend({
      by: z.enum(['policy.adopt', 'a Lock']),
      gone: z.string().optional(),
    }),
    sample: { pipeId: 'ID', by: 'policy.adopt' },
    words: ({ pipeId, by, gone }, noun) =>
      only(
        gone === undefined
          ? `${capital(noun)} ${pipeId} will be adopted, as ${by} says.`
          : `${capital(noun)} ${gone} is gone. ${capital(noun)} ${pipeId} will be adopted, as ${by} says.`,
      ),
  }),
  FoundByList: row({
    ...PROGRESSING,
    means: 'the service has one equal resource of this name, and no manifest has its id',
    facts: PIPE,
    sample: { pipeId: 'ID' },
    words: ({ pipeId }, noun) =>
      only(
        `The service has ${noun} ${pipeId} of this name, which no manifest holds. It is equal to the manifest and will be adopted.`,
      ),
  }),
  RetryApproved: row({
    ...PROGRESSING,
    means: 'an operator settled the last attempt',
    facts: ATTEMPT.extend({
      /** The request might still have an effect. */ isForced: z.literal(true).optional(),
    }),
    sample: { attempt: 1 },
    words: ({ attempt, isForced }, noun) =>
      only(
        isForced === true
          ? `An operator set attempt ${attempt} aside with --force. Its outcome is unknown. If its request still arrives, there will be two ${noun}s.`
          : `An operator settled attempt ${attempt}. The ${noun} will be created again.`,
      ),
  }),
  RetryFailed: row({
    ...PROGRESSING,
    means: 'the last create failed, and created no resource',
    facts: ATTEMPT,
    sample: { attempt: 1 },
    words: ({ attempt }) =>
      only(`Attempt ${attempt} failed and created no resource. It will be tried again.`),
  }),
  RecreateApproved: row({
    ...PROGRESSING,
    means: 'an operator confirmed that the resource is gone',
    facts: PIPE,
    sample: { pipeId: 'ID' },
    words: ({ pipeId }, noun) =>
      only(`An operator confirmed that ${noun} ${pipeId} is gone. A new one will be created.`),
  }),
  FoundByRead: row({
    ...WELL,
    means: 'the reply to the create was incomplete, and a read of the id in it found the new resource',
    facts: PIPE.extend({ /** Only set before the read. */ attempt: z.number().optional() }),
    sample: { pipeId: 'ID' },
    words: ({ pipeId, attempt }, noun) =>
      only(
        attempt === undefined
          ? `${capital(noun)} ${pipeId} was created. The reply was incomplete, and a read of its id found the ${noun}.`
          : `The reply to attempt ${attempt} was incomplete but held the id ${pipeId}. A read will tell whether it is the new ${noun}.`,
      ),
  }),
  Created: row({
    ...WELL,
    means: 'the resource was created',
    facts: PIPE.extend({ inPlaceOf: z.string().optional() }),
    sample: { pipeId: 'ID' },
    words: ({ pipeId, inPlaceOf }, noun) =>
      only(
        `${capital(noun)} ${pipeId} was created${inPlaceOf === undefined ? '' : ` in place of ${noun} ${inPlaceOf}`}.`,
      ),
  }),
  Adopted: row({
    ...WELL,
    means: 'an existing resource was adopted',
    facts: PIPE.extend({
      inPlaceOf: z.string().optional(),
      isAsAsked: z.literal(true).optional(),
    }),
    sample: { pipeId: 'ID' },
    // The replaced id must not get lost.
    words: ({ pipeId, inPlaceOf, isAsAsked }, noun) =>
      only(
        isAsAsked === true
          ? `The service has ${noun} ${pipeId}, and it is as the manifest asks for. It is taken over as it is.`
          : `${capital(noun)} ${pipeId} was adopted${inPlaceOf === undefined ? '' : ` in place of ${noun} ${inPlaceOf}, which is gone`}.`,
      ),
  }),
  Moved: row({
    ...PROGRESSING,
    means: 'the resource was renamed, and its record moved to the new name',
    facts: z.strictObject({ from: z.string(), to: z.string() }),
    sample: { from: 'Pipe/old', to: 'Pipe/new' },
    words: ({ from, to }, noun) =>
      only(`The record of ${from} moved to ${to}: the same ${noun} under a new name.`),
  }),
} as const
