import { capital, nounOf } from '../../kinds/lookup.ts'
import { z } from '../../kinds/zod.ts'
import { serviceWords } from '../step.ts'
import { removalSteps } from './removal-words.ts'
import { FAILED, NOT_READY, PROGRESSING, row, SAID, sentence } from './row.ts'

const MET = { facts: SAID, words: ({ said }: z.output<typeof SAID>) => sentence(said) } as const

const UNOBSERVED = {
  waiting: 'Not reconciled yet.',
  creating:
    'A create is in progress, or Pipewright stopped before the create ended. The next reconcile records the outcome.',
  resumed: 'Resumed by an operator.',
  allowed: 'An operator allowed the create. Pipewright sends it as soon as the request budget allows.',
  'not answered': 'Not read yet: no request with the credentials of this service was answered.',
  'not asked': 'Not read yet: the request could not be sent. Pipewright retries.',
} as const

export const REQUESTS = {
  Unobserved: row({
    ...PROGRESSING,
    means: 'it was not read yet',
    facts: z.strictObject({
      why: z.enum(['not read', 'waiting', 'not asked', 'not answered', 'creating', 'allowed', 'resumed']),
      pipeId: z.string().optional(),
    }),
    words: ({ why, pipeId }, noun) => {
      if (why !== 'not read') return UNOBSERVED[why]
      return pipeId === undefined
        ? `The ${noun} was not read yet.`
        : `${capital(noun)} ${pipeId} was not read yet.`
    },
  }),
  Rejected: row({
    ...FAILED,
    ...MET,
    means: 'the platform refused the request',
    steps: (_facts, { place }) => [{ text: 'Correct the manifest:', copy: place }],
  }),
  AuthFailed: row({
    ...FAILED,
    ...MET,
    means: 'the platform refused the credentials, an operation or the service',
    facts: SAID.extend({
      credentials: z.string().optional(),
      /** Undefined in old records. */
      refuses: z.enum(['the credentials', 'an operation']).optional(),
    }),
    steps: (facts, about) => [
      {
        text:
          facts?.refuses === 'an operation'
            ? `Correct organizationId or serviceId of ${serviceWords(about)}, or give its API key the missing permission.`
            : `Put working credentials into ${facts?.credentials ?? `the secret of ${serviceWords(about)}`}. A daemon tries them as soon as they change.`,
      },
    ],
  }),
  RateLimited: row({
    ...FAILED,
    ...MET,
    means: 'the platform limits the rate of requests',
    steps: () => [{ text: 'Pipewright retries. If the problem lasts, lower --api-budget.' }],
  }),
  ServiceIdle: row({
    ...NOT_READY,
    ...MET,
    means: 'the service is idle or still waking up',
    steps: (_facts, about) => [
      { text: `Wake ${serviceWords(about)} in the console, if it should run. Pipewright retries.` },
    ],
  }),
  Unavailable: row({
    ...FAILED,
    ...MET,
    facts: SAID.extend({ setting: z.string().optional() }),
    means: 'the platform could not be reached or sent an unexpected reply, or Pipewright failed',
    steps: (facts) => [
      {
        text:
          facts?.setting === undefined
            ? 'Pipewright retries. If the problem lasts, check that this host reaches --base-url.'
            : `Set ${facts.setting} to the base URL of the platform.`,
      },
    ],
  }),
  NotLeading: row({
    ...FAILED,
    ...MET,
    facts: z.union([
      SAID,
      z.strictObject({
        olderThan: z.string(),
        pipeId: z.string(),
        by: z.enum(['policy.adopt', 'a Lock', 'the list']),
      }),
    ]),
    words: (facts) =>
      'said' in facts
        ? sentence(facts.said)
        : `${facts.by === 'policy.adopt' ? facts.by : capital(facts.by)} names ${facts.pipeId}. It is not adopted yet, and no resource is created: this checkout might be stale, because another process acted ` +
          `on revision ${facts.olderThan}. Pipewright continues at the next revision.`,
    means: 'this process might not be the only leader, so it sent no request',
    steps: (facts, { key }) =>
      facts !== undefined && 'olderThan' in facts
        ? removalSteps({ is: 'older' }, nounOf(key))
        : [{ text: 'The leader retries. If the problem lasts, check that it reaches the Kubernetes API.' }],
  }),
  LedgerFailed: row({
    status: 'Failed',
    severity: 'critical',
    alert: 'PipewrightLedgerFailing',
    ...MET,
    means: 'the ledger could not be written',
    steps: () => [
      {
        text: 'No resource is created until the ledger can be written. Make room on its volume, or repair the ledger. In Kubernetes, check that this pod reaches the Kubernetes API.',
      },
    ],
  }),
} as const
