import { capital, nounOf } from '../../kinds/lookup.ts'
import { z } from '../../kinds/zod.ts'
import { serviceWords, type Step } from '../step.ts'
import { removalSteps } from './removal-words.ts'
import { FAILED, NOT_READY, PROGRESSING, SAID, row, sentence } from './row.ts'

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

export const MISSING_SECRET = z.strictObject({
  file: z.string(),
  /**
   * `credential`: the secret equals a platform credential, or is an API key in the wrong directory. `linked`: the file
   * is a link between --secrets-dir and --credentials-dir. `no descriptor`: the process can open no more files.
   */
  why: z.enum(['absent', 'unreadable', 'empty', 'malformed', 'linked', 'credential', 'no descriptor']),
  /** The platform credential in the file. Undefined: the secret of a secretRef. */
  of: z.enum(['API key', 'alerts token']).optional(),
  misplaced: z.string().optional(),
})
export type MissingSecret = z.output<typeof MISSING_SECRET>

const WHY = {
  absent: 'absent',
  unreadable: 'unreadable: it must be a text file of at most 64 KiB',
  empty: 'empty',
  malformed: 'it must hold one token, without spaces, line breaks or non-ASCII characters',
  linked: 'a link between --secrets-dir and --credentials-dir',
  credential: 'a platform credential, which Pipewright does not send to a data source',
  'no descriptor': 'not read: too many open files',
} as const

export function unopenedIn(missing: readonly MissingSecret[]): string | undefined {
  return missing.find(({ why }) => why === 'no descriptor')?.file
}

export function missingSecretWords(missing: readonly MissingSecret[]): string {
  const unopened = unopenedIn(missing)
  if (unopened !== undefined)
    return `Too many open files: the process has no free file descriptor to read ${unopened}. The secret is not at fault.`
  const there = missing.filter(({ misplaced }) => misplaced === undefined)
  const moved = new Set(missing.flatMap(({ misplaced }) => misplaced ?? []))
  return [...[...moved].map(misplacedWords), ...(there.length === 0 ? [] : [filesWords(there)])].join(' ')
}

export function missingSecretSteps(missing: readonly MissingSecret[]): readonly Step[] {
  const groups = Map.groupBy(missing, ({ why, misplaced }) => (misplaced === undefined ? why : 'misplaced'))
  return [...groups].map(([why, all]) => {
    const files = [...new Set(all.map(({ file }) => file))]
    if (why === 'misplaced') {
      const directories = new Set(files.map((file) => file.slice(0, file.lastIndexOf('/'))))
      const text = 'Mount the credentials here, then remove them from --secrets-dir:'
      return { text, copy: [...directories].join(', ') }
    }
    const isOne = files.length === 1
    const mount = isOne ? 'Mount the secret:' : 'Mount these secrets:'
    const text = why === 'absent' ? mount : `Replace ${isOne ? 'this file' : 'these files'} (${WHY[why]}):`
    return { text, copy: files.join(', ') }
  })
}

function filesWords(missing: readonly MissingSecret[]): string {
  const files = missing.map(({ file, why }) => (why === 'absent' ? file : `${file} (${WHY[why]})`))
  const what = missing.every(({ why }) => why === 'absent') ? 'not found' : 'cannot be used'
  return `${files.length === 1 ? 'Secret file' : 'Secret files'} ${what}: ${files.join(', ')}.`
}

function misplacedWords(misplaced: string): string {
  const name = misplaced.slice(misplaced.lastIndexOf('/') + 1)
  return `The credentials "${name}" are in --secrets-dir (${misplaced}). The platform's credentials belong in --credentials-dir.`
}
