import { capital } from '../../kinds/lookup.ts'
import { z } from '../../kinds/zod.ts'
import {
  FAILED,
  NOT_READY,
  only,
  plain,
  PROGRESSING,
  row,
  SAID,
  serviceWords,
  shellWord,
  WELL,
} from './row.ts'

/** What was met, in the words of whoever met it. */
const MET = {
  facts: SAID,
  sample: { said: 'It failed.' },
  words: ({ said }: z.output<typeof SAID>) => only(said),
} as const

const UNOBSERVED = {
  waiting: 'It was not reconciled yet.',
  'not asked': 'The platform could not be asked.',
} as const

/** What became of a request. */
export const REQUESTS = {
  Unobserved: row({
    ...PROGRESSING,
    means: 'it was not looked at yet',
    facts: z.strictObject({
      why: z.enum(['not read', 'waiting', 'not asked']),
      pipeId: z.string().optional(),
    }),
    sample: { why: 'waiting' },
    words: ({ why, pipeId }, noun) => {
      if (why !== 'not read') return only(UNOBSERVED[why])
      return only(
        pipeId === undefined
          ? `The ${noun} was not looked at yet.`
          : `${capital(noun)} ${pipeId} was not looked at yet.`,
      )
    },
  }),
  Rejected: row({
    ...FAILED,
    ...MET,
    means: 'the platform refused the request',
    steps: (_facts, { key, place }) => [
      {
        text: 'Read what the platform answered, and correct the manifest. It is tried again when it changes:',
        copy: place,
      },
      { text: 'To see what is asked for:', shell: `status ${key}` },
    ],
  }),
  AuthFailed: row({
    ...FAILED,
    ...MET,
    means: 'the platform refused the credentials',
    steps: (_facts, about) => [
      {
        text: `Put working credentials for ${serviceWords(about)} into the mounted secret that is named above; they are tried as soon as they change. Then look:`,
        shell: about.service === undefined ? 'status' : `status Service/${shellWord(about.service)}`,
      },
    ],
  }),
  RateLimited: row({
    ...FAILED,
    ...MET,
    means: 'the platform asked us to wait',
    steps: () => [
      { text: 'Nothing: it goes on by itself. If it lasts, lower --api-budget, or see:', shell: 'status' },
    ],
  }),
  ServiceIdle: row({
    ...NOT_READY,
    ...MET,
    means: 'the service is idle or still wakes up',
    steps: (_facts, about) => [
      {
        text: `Wake ${serviceWords(about)} in the console, if its pipes are to run. It is asked again by itself; then see:`,
        shell: 'status',
      },
    ],
  }),
  Unavailable: row({
    ...FAILED,
    ...MET,
    means: 'the platform could not be reached or did not answer properly',
    steps: (_facts, { key }) => [
      {
        text: 'It is tried again by itself. If it lasts, check the network, --base-url and the platform; then see:',
        shell: `status ${key}`,
      },
    ],
  }),
  LedgerFailed: row({
    status: 'Failed',
    severity: 'critical',
    alert: 'PipewrightLedgerFailing',
    ...MET,
    means: 'the ledger could not be written',
    steps: () => [
      {
        text: 'Make room on the volume of the ledger, or repair it. Nothing is created until then:',
        shell: 'status',
      },
    ],
  }),
  InUse: plain({
    ...WELL,
    means: 'the platform answers with its credentials',
    message: 'The platform answers with its credentials.',
  }),
  Unanswered: plain({
    ...PROGRESSING,
    means: 'the platform has not answered with its credentials yet',
    message: 'Not answered yet: no request with its credentials had a reply so far.',
  }),
} as const
