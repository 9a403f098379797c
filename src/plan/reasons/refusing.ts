import { MORE_FILES } from '../../lib/files.ts'
import { z } from '../../kinds/zod.ts'
import { anyOf, capital, nounOf } from '../../kinds/lookup.ts'
import { timeOf } from '../../kinds/instant.ts'
import { type About, serviceWords, shellWord, type Step } from '../step.ts'
import { A_KEY, A_TIME, INNER_REASON, PROGRESSING, REFUSED, row } from './row.ts'
import {
  MISSING_SECRET,
  missingSecretSteps,
  missingSecretWords,
  unopenedIn,
  type MissingSecret,
} from './requests.ts'
import { RENAMING } from './renaming.ts'
import { UNKNOWN } from './unknown.ts'

function whereItIsNamed(of: MissingSecret['of'], about: About): Step {
  switch (of) {
    case undefined:
      return { text: 'Or correct the secretRef:', copy: about.place }
    case 'alerts token':
      return { text: 'Or set the right file with --alerts-token-file.' }
    case 'API key':
      return { text: `Or correct credentials.secretRef in the manifest of ${serviceWords(about)}.` }
  }
}

/** Shown with `--max-creates 0`, which people set after they lost a ledger. */
const OF_NONE =
  'If a ledger was lost, first adopt the existing pipes, by a Lock or policy.adopt. Then raise --max-creates.'

const WAITS = {
  failed: 'The last attempt failed.',
  stopped: 'Pipewright stopped the resource to change it, but the change failed.',
  'decisions changed':
    'The manifest, the record or the platform changed before each request, so no request was sent. Pipewright decides again.',
} as const

const SERVICE_PROBLEM = z.discriminatedUnion('is', [
  z.strictObject({ is: z.enum(['not named', 'gone']) }),
  z.strictObject({ is: z.enum(['not valid', 'not found', 'with errors']), service: A_KEY }),
])
export type ServiceProblem = z.output<typeof SERVICE_PROBLEM>

function serviceProblemWords(problem: ServiceProblem): string {
  switch (problem.is) {
    case 'not named':
      return 'The manifest names no service.'
    case 'not valid':
      return `${problem.service} has no valid manifest. Pipewright continues as soon as it has one.`
    case 'not found':
      return `The manifest of ${problem.service} was not found. Without it, no resource of this service is created or applied.`
    case 'with errors':
      return `The manifest of ${problem.service} has errors. Until they are corrected, no resource of this service is created or applied.`
    case 'gone':
      return 'No request was sent: no valid Service manifest names the service of this resource.'
  }
}

const ADOPT_PROBLEM = z.discriminatedUnion('is', [
  z.strictObject({ is: z.literal('second'), pipeId: z.string(), recorded: z.string() }),
  z.strictObject({
    is: z.literal('not there'),
    pipeId: z.string(),
    service: z.strictObject({ name: z.string(), serviceId: z.string() }),
    isListed: z.boolean(),
  }),
  z.strictObject({ is: z.literal('of another service'), pipeId: z.string(), serviceId: z.string() }),
  z.strictObject({ is: z.enum(['being deleted', 'unlike the list']), pipeId: z.string() }),
  z.strictObject({ is: z.literal('held'), pipeId: z.string(), by: A_KEY, isOrphan: z.boolean() }),
  z.strictObject({ is: z.literal('perhaps of'), pipeId: z.string(), other: A_KEY }),
])
type AdoptProblem = z.output<typeof ADOPT_PROBLEM>

function adoptProblemWords(problem: AdoptProblem, noun: string): string {
  const { pipeId } = problem
  const it = `${capital(noun)} ${pipeId}`
  switch (problem.is) {
    case 'second':
      return `policy.adopt names ${pipeId}, but this key already has ${noun} ${problem.recorded}. ${it} is not adopted.`
    case 'not there': {
      const { service, isListed } = problem
      const next = isListed
        ? `But the list of the service showed this ${noun}. Pipewright reads the ${noun} again, and creates no resource.`
        : 'No resource is created.'
      return `There is no ${noun} ${pipeId} in service ${service.name} (${service.serviceId}). ${next}`
    }
    case 'of another service':
      return `${it} belongs to another service, ${problem.serviceId}. It is not adopted.`
    case 'being deleted':
      return `${it} is being deleted. It is not adopted.`
    case 'unlike the list':
      return (
        `The list of the service shows ${pipeId} as this ${noun}, but a read by its id shows other values. One of the replies might be outdated. ` +
        `No resource is created. Pipewright reads the list and the ${noun} again.`
      )
    case 'held':
      return `${it} already belongs to ${problem.by}${problem.isOrphan ? ', which no longer has a manifest' : ''}. It is not adopted.`
    case 'perhaps of':
      return `${it} might be the ${noun} of ${problem.other}. It is not adopted, because ${problem.other} has the same name, and the outcome of its create is unknown.`
  }
}

function adoptProblemSteps(problem: AdoptProblem | undefined, { key, place }: About): readonly Step[] {
  const correct = {
    text: `Correct policy.adopt, or the Lock with this id (in lock.yaml or *.lock.yaml). The manifest of this ${nounOf(key)}:`,
    copy: place,
  }
  switch (problem?.is) {
    case 'second':
      return [
        { text: `Remove policy.adopt, or give the other ${nounOf(key)} a manifest of its own:`, copy: place },
      ]
    case 'unlike the list':
      return [
        { text: `If it is this ${nounOf(key)},`, edit: { path: ['policy', 'adopt'], value: problem.pipeId } },
      ]
    case 'held':
      return problem.isOrphan
        ? [{ text: `If it should now belong to ${key}, run:`, shell: `forget ${problem.by}` }, correct]
        : [correct]
    case 'not there':
      return problem.isListed ? [] : [correct]
    case 'perhaps of':
      return [{ text: `Resolve ${problem.other} first:`, shell: `status ${problem.other}` }]
    case 'of another service':
    case 'being deleted':
    case undefined:
      return [correct]
  }
}

function allowOnce(what: string, command: string, service: string | undefined): Step {
  const shell = service === undefined ? command : `${command} --service ${shellWord(service)}`
  return { text: `If you intend so many ${what}, allow them once:`, shell }
}

export const REFUSING = {
  ...RENAMING,
  DeleteLimit: row({
    ...REFUSED,
    means: 'more deletions are pending in its service than the limit on deletions allows',
    facts: z.strictObject({ service: z.string(), wanted: z.number(), of: z.number(), limit: z.number() }),
    words: ({ service, wanted, of, limit }, noun) =>
      `In service ${service}, ${wanted} of ${of} ${noun}s would be deleted. The limit is ${limit}: a tenth of them, but at least one and at most five. ` +
      'No resource is deleted.',
    steps: (facts, { service = facts?.service }) => [
      allowOnce('deletions', 'allow --deletions', service),
      { text: 'If not, undo the edits.' },
    ],
  }),
  CreateLimit: row({
    ...REFUSED,
    alert: 'PipewrightCreateLimitOn',
    means: 'its service has more pending and recent creates than the create limit allows',
    facts: z.strictObject({
      service: z.string(),
      wanted: z.number(),
      made: z.number(),
      limit: z.number(),
      until: A_TIME.optional(),
    }),
    words: ({ service, wanted, made, limit, until }) => {
      const pending = `Creates are paused in service ${service}: ${wanted} pending`
      if (limit === 0) return `${pending}, and --max-creates is 0.`
      const before = made === 0 ? '' : `, ${made} made within the last hour`
      const then = until === undefined ? '' : ` They start automatically at ${timeOf(until)}.`
      return `${pending}${before}, and the create limit is ${limit} (--max-creates).${then}`
    },
    steps: (facts, { service = facts?.service }) =>
      facts?.limit === 0
        ? [{ text: OF_NONE }]
        : [
            allowOnce('creates', 'allow', service),
            {
              text: 'If not, revert the commit. To see the change in your checkout:',
              copy: 'git log -3 --stat',
            },
          ],
  }),
  DependencyNotReady: row({
    ...REFUSED,
    means: 'something it depends on is not ready',
    facts: z.union([
      z.strictObject({ waitsFor: z.array(z.string()).readonly() }),
      SERVICE_PROBLEM,
      z.strictObject({
        /** An empty text stands for the whole directory. */
        unreadable: z.array(z.string()).readonly(),
        more: z.number(),
      }),
    ]),
    words: (facts, noun) => {
      if ('is' in facts) return serviceProblemWords(facts)
      if ('waitsFor' in facts)
        return `Waiting until ${facts.waitsFor.join(', ')} (policy.dependsOn) ${facts.waitsFor.length === 1 ? 'is' : 'are'} ready. Pipewright continues automatically.`
      const { unreadable, more } = facts
      const shown = unreadable.map((file) => (file === '' ? 'the manifests directory' : file))
      return (
        `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''} cannot be read completely and might hold a Lock that names ` +
        `the ${noun} to adopt. No resource is created meanwhile.`
      )
    },
    steps(facts, { service }) {
      if (facts === undefined || 'waitsFor' in facts)
        return (facts?.waitsFor ?? []).slice(0, 1).map((first) => ({
          text: 'Check it first:',
          shell: `status ${first}`,
        }))
      if ('unreadable' in facts)
        return [
          {
            text: 'Correct that file. Pipewright then continues automatically. To check the file:',
            shell: 'validate',
          },
        ]
      const text = 'Correct the Service manifest, or spec.service in this manifest:'
      return [service === undefined ? { text } : { text, shell: `status Service/${shellWord(service)}` }]
    },
  }),
  SecretUnavailable: row({
    ...REFUSED,
    means: 'a secret it needs is not mounted, or cannot be read',
    facts: z.strictObject({
      missing: z.array(MISSING_SECRET).readonly(),
      isUnverified: z.literal(true).optional(),
    }),
    words: ({ missing, isUnverified }) =>
      isUnverified === true
        ? `Credentials not verified. ${missingSecretWords(missing)} Pipewright retries at the next drift check.`
        : `${missingSecretWords(missing)} Pipewright continues automatically when the secret is corrected.`,
    steps: (facts, about) => {
      if (facts !== undefined && unopenedIn(facts.missing) !== undefined)
        return [{ text: `The process has too many open files. ${MORE_FILES}` }]
      const missing = facts?.missing ?? []
      const named = missing.find(({ misplaced }) => misplaced === undefined)
      const correct = missing.length > 0 && named === undefined ? [] : [whereItIsNamed(named?.of, about)]
      return [...missingSecretSteps(missing), ...correct]
    },
  }),
  ...UNKNOWN,
  OutcomeUnsaved: row({
    status: 'Failed',
    severity: 'critical',
    alert: 'PipewrightOutcomeUnsaved',
    means: 'a create has ended, and its outcome cannot be written to the ledger',
    facts: z.strictObject({
      key: A_KEY,
      end: z.enum(['created', 'failed', 'unknown']),
      pipeId: z.string().optional(),
      seen: z.string(),
    }),
    words: ({ key, end, pipeId, seen }, noun) => {
      const again =
        'Do not restart Pipewright: the ledger cannot be written, and a restart would lose this outcome.'
      switch (end) {
        case 'created':
          return `${capital(noun)} ${pipeId} was created for ${key}. ${again}`
        case 'failed':
          return `No resource was created for ${key} (${seen}). ${again}`
        case 'unknown':
          return `It is unknown whether ${anyOf(noun)} was created for ${key} (${seen}). ${again}`
      }
    },
    steps: (facts, { key, pipeId = facts?.pipeId }) => [
      {
        text: 'Make room on the ledger volume, repair it, or stop the process that keeps the file busy. Pipewright then saves the outcome.',
      },
      ...(pipeId === undefined
        ? []
        : [{ text: 'If Pipewright was restarted anyway, run:', shell: `resolve ${key} --adopt ${pipeId}` }]),
    ],
  }),
  AdoptRefused: row({
    ...REFUSED,
    means: 'the resource to adopt cannot be adopted',
    facts: ADOPT_PROBLEM,
    words: (facts, noun) => adoptProblemWords(facts, noun),
    steps: adoptProblemSteps,
  }),
  BackingOff: row({
    ...PROGRESSING,
    means: 'it failed and waits for the next attempt',
    facts: z.strictObject({
      after: z.union([INNER_REASON, z.enum(Object.keys(WAITS) as [keyof typeof WAITS])]).optional(), // the keys of an object literal
      until: A_TIME.optional(),
    }),
    words: ({ after, until }, _noun, tell) => {
      const cause = typeof after === 'object' ? tell(after) : WAITS[after ?? 'failed']
      return until === undefined ? cause : `${cause} Next attempt at ${timeOf(until)}.`
    },
    steps: (facts, _about, stepsOf) => (typeof facts?.after === 'object' ? stepsOf(facts.after) : []),
  }),
} as const
