import { z } from '../../kinds/zod.ts'
import { only, PROGRESSING, row, WELL } from './row.ts'

const ATTEMPT = z.strictObject({ attempt: z.number() })
const PIPE = z.strictObject({ pipeId: z.string() })

/** Creating, taking over, and what came of it. */
export const CREATING = {
  New: row({
    ...PROGRESSING,
    means: 'it was never created',
    facts: z.strictObject({ is: z.enum(['created', 'applied']) }),
    sample: { is: 'created' },
    words: ({ is }) =>
      only(
        is === 'created'
          ? 'It was never created; it is created now.'
          : 'It was never applied; applying it replaces whatever is configured there now.',
      ),
  }),
  Adopt: row({
    ...PROGRESSING,
    means: 'its manifest or a Lock names the pipe to take over',
    facts: PIPE.extend({
      by: z.enum(['policy.adopt', 'a Lock']),
      /** The pipe of the key that is gone. */
      gone: z.string().optional(),
    }),
    sample: { pipeId: 'ID', by: 'policy.adopt' },
    words: ({ pipeId, by, gone }) =>
      only(
        gone === undefined
          ? `Pipe ${pipeId} is taken over, as ${by} says.`
          : `Pipe ${gone} is gone; pipe ${pipeId} is taken over, as ${by} says.`,
      ),
  }),
  RetryApproved: row({
    ...PROGRESSING,
    means: 'a person said that the last attempt created nothing',
    facts: ATTEMPT,
    sample: { attempt: 1 },
    words: ({ attempt }) => only(`Attempt ${attempt} created nothing, as a person said; it is created now.`),
  }),
  RetryFailed: row({
    ...PROGRESSING,
    means: 'the last attempt failed without effect',
    facts: ATTEMPT,
    sample: { attempt: 1 },
    words: ({ attempt }) => only(`Attempt ${attempt} failed without effect; it is tried again.`),
  }),
  RecreateApproved: row({
    ...PROGRESSING,
    means: 'a person said that its pipe is gone',
    facts: PIPE,
    sample: { pipeId: 'ID' },
    words: ({ pipeId }) => only(`Pipe ${pipeId} is gone, as a person said; a new one is created.`),
  }),
  FoundByRead: row({
    ...WELL,
    means: 'a reading showed that the id in an unfinished reply is that of the new pipe',
    facts: PIPE.extend({ /** Not read yet. */ attempt: z.number().optional() }),
    sample: { pipeId: 'ID' },
    words: ({ pipeId, attempt }) =>
      only(
        attempt === undefined
          ? `Pipe ${pipeId} was created: the reply was not whole, and a reading found it.`
          : `The reply to attempt ${attempt} was not whole and held the id ${pipeId}; a reading tells whether that is its pipe.`,
      ),
  }),
  Created: row({
    ...WELL,
    means: 'the pipe was created',
    facts: PIPE.extend({ inPlaceOf: z.string().optional() }),
    sample: { pipeId: 'ID' },
    words: ({ pipeId, inPlaceOf }) =>
      only(`Pipe ${pipeId} was created${inPlaceOf === undefined ? '' : ` in place of pipe ${inPlaceOf}`}.`),
  }),
  Adopted: row({
    ...WELL,
    means: 'an existing pipe was taken over',
    facts: PIPE.extend({ inPlaceOf: z.string().optional() }),
    sample: { pipeId: 'ID' },
    // An id that is given up is named once more: it must not get lost silently.
    words: ({ pipeId, inPlaceOf }) =>
      only(
        `Pipe ${pipeId} was taken over${inPlaceOf === undefined ? '' : `, in place of pipe ${inPlaceOf}, which is gone`}.`,
      ),
  }),
  Moved: row({
    ...PROGRESSING,
    means: 'the record moved from the name the pipe had before',
    facts: z.strictObject({ from: z.string(), to: z.string() }),
    sample: { from: 'Pipe/old', to: 'Pipe/new' },
    words: ({ from, to }) =>
      only(`The record of ${from} moved to ${to}: it is the same pipe under another name.`),
  }),
} as const
