import { capital } from '../../kinds/lookup.ts'
import { z } from '../../kinds/zod.ts'
import { FAILED, NOT_READY, PROGRESSING, row, SAID, sentence, serviceWords, shellWord } from './row.ts'

const MET = {
  facts: SAID,
  sample: { said: 'It failed.' },
  words: ({ said }: z.output<typeof SAID>) => sentence(said),
} as const

const UNOBSERVED = {
  waiting: 'Not reconciled yet.',
  creating: 'Its create was begun, and what became of it is not recorded yet.',
  resumed: 'Resumed by an operator.',
  allowed: 'Allowed by an operator. It is created when its turn comes within the request budget.',
  'not answered': 'Not answered yet: no request with its credentials had a reply so far.',
  'not asked': 'Not read yet: the platform could not be asked.',
} as const

export const REQUESTS = {
  Unobserved: row({
    ...PROGRESSING,
    means: 'it was not read yet',
    facts: z.strictObject({
      why: z.enum(['not read', 'waiting', 'not asked', 'not answered', 'creating', 'allowed', 'resumed']),
      pipeId: z.string().optional(),
    }),
    sample: { why: 'waiting' },
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
    steps: (_facts, { key, place }) => [
      {
        text: 'Read what the platform answered, then correct the manifest. A change is tried immediately:',
        copy: place,
      },
      { text: 'For the details:', shell: `status ${key}` },
    ],
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
            ? `Check organizationId and serviceId of ${serviceWords(about)}, and the permissions of its API key.`
            : `Put working credentials into ${facts?.credentials ?? `the secret of ${serviceWords(about)}`}. They are tried as soon as they change.`,
      },
      {
        text: 'To see how it stands:',
        shell:
          about.service === undefined ? `status ${about.key}` : `status Service/${shellWord(about.service)}`,
      },
    ],
  }),
  RateLimited: row({
    ...FAILED,
    ...MET,
    means: 'the platform limits the rate of requests',
    steps: () => [
      {
        text: 'Wait: it continues automatically. If it lasts, lower --api-budget. To see its progress:',
        shell: 'status',
      },
    ],
  }),
  ServiceIdle: row({
    ...NOT_READY,
    ...MET,
    means: 'the service is idle or still waking up',
    steps: (_facts, about) => [
      {
        text: `Wake ${serviceWords(about)} in the console, if it should run. It is asked again automatically. Then check:`,
        shell: 'status',
      },
    ],
  }),
  Unavailable: row({
    ...FAILED,
    ...MET,
    means:
      'the platform could not be reached or did not answer as its interface promises, or Pipewright failed',
    steps: (_facts, { key }) => [
      {
        text: 'It is tried again automatically. If it lasts, check the network, --base-url and the platform.',
      },
      {
        text: 'To see how it stands:',
        shell: `status ${key}`,
      },
    ],
  }),
  NotLeading: row({
    ...FAILED,
    ...MET,
    facts: z.union([
      SAID,
      z.strictObject({ olderThan: z.string(), pipeId: z.string(), by: z.enum(['policy.adopt', 'a Lock']) }),
    ]),
    words: (facts) =>
      'said' in facts
        ? sentence(facts.said)
        : `${facts.by === 'a Lock' ? 'A Lock' : facts.by} names ${facts.pipeId}. It is not adopted yet, and no resource is created: another process has acted on revision ${facts.olderThan}, ` +
          'which might be newer. It is adopted once another revision is read or an operator accepts the manifests.',
    means: 'this process could not make sure that it alone acts, and sent no request',
    steps: (_facts, { key }) => [
      {
        text: 'It is tried again automatically, by the process that acts then. If it lasts, check whether the Kubernetes API can be reached.',
      },
      {
        text: 'To see how it stands:',
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
        text: 'Make room on the ledger volume, or repair it. No resource is created until then. To see its state:',
        shell: 'status',
      },
    ],
  }),
} as const
