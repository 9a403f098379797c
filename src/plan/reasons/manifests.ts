import { z } from '../../kinds/zod.ts'
import { timeOf } from '../../kinds/instant.ts'
import { kindOf } from '../../kinds/key.ts'
import { anyOf, nounOf } from '../../kinds/lookup.ts'
import type { About, Step } from '../step.ts'
import { removalSteps } from './removal-words.ts'
import { A_KEY, A_TIME, PROGRESSING, row, WELL } from './row.ts'
import { attemptWords, UNKNOWN_ATTEMPT, UNKNOWN_OUTCOME, unknownSteps, unknownWords } from './unknown.ts'

/** A person must settle the unknown outcome of a create, even if the manifest is invalid or gone. */
const DOUBT = { unknown: UNKNOWN_OUTCOME.omit({ before: true }).optional() }

function withUnknown(text: string, unknown: z.output<typeof UNKNOWN_OUTCOME> | undefined) {
  return unknown === undefined ? text : `${text} ${unknownWords(unknown)}`
}

function doubtSteps(
  facts: { readonly unknown?: z.output<typeof UNKNOWN_OUTCOME> | undefined } | undefined,
  about: About,
): readonly Step[] {
  return facts?.unknown === undefined ? [] : unknownSteps(facts.unknown, about)
}

const ORPHAN = z.strictObject({
  key: A_KEY,
  file: z.string().optional(),
  pipeId: z.string().optional(),
  /** Another key that has the same pipe. */
  holder: A_KEY.optional(),
  attempt: UNKNOWN_ATTEMPT.optional(),
  retryFrom: A_TIME.optional(),
  isNothing: z.boolean(),
  /** The manifest now has `spec.id`, so Pipewright only watches that resource. */
  isWatching: z.literal(true).optional(),
})

function orphanWords(facts: z.output<typeof ORPHAN>): string {
  const { key, file, pipeId, holder, attempt, isNothing, isWatching } = facts
  const noun = nounOf(key)
  const create = attempt === undefined ? '' : ` The create was ${attemptWords(attempt)}.`
  if (isWatching === true)
    return pipeId === undefined
      ? `The manifest only watches ${anyOf(noun)} now. An earlier create might have made another ${noun}.${create}`
      : `The manifest only watches another ${noun} now. No resource is deleted: ${noun} ${pipeId}, which it managed before, stays on the platform.`
  if (isNothing) return 'The manifest was removed, and the platform has no such resource.'
  const removed = `The manifest was removed${file === undefined ? '' : ` (it was in ${file})`}`
  if (attempt !== undefined)
    return `${removed}. Its ${noun} might exist. No resource is deleted, and no create is sent.${create}`
  const its = pipeId === undefined ? `the ${noun}` : `${noun} ${pipeId}`
  const rest = holder === undefined ? 'stays on the platform' : `belongs to ${holder}`
  return `${removed}. No resource is deleted: ${its} ${rest}.`
}

function orphanSteps(facts: z.output<typeof ORPHAN> | undefined, { key, place }: About): readonly Step[] {
  const noun = nounOf(key)
  if (facts?.isWatching === true)
    return [
      facts.pipeId === undefined
        ? { text: `Look in the console for the ${noun} that the earlier create might have made.` }
        : { text: `To watch that ${noun},`, edit: { path: ['spec', 'id'], value: facts.pipeId } },
      { text: 'To manage it again, remove spec.id and restore its spec:', copy: place },
      {
        text: 'To remove its record, rename this manifest. Once the old name is Orphaned, run:',
        shell: `forget ${key}`,
      },
    ]
  const isOther = facts?.holder !== undefined && facts.attempt === undefined
  if (facts?.isNothing === true || isOther) return [{ text: 'To remove its record:', shell: `forget ${key}` }]
  const isSure = facts?.pipeId !== undefined && facts.attempt === undefined
  const unless = isSure ? '' : ', unless another manifest describes it'
  const after = facts?.retryFrom === undefined ? '' : `, after ${timeOf(facts.retryFrom)},`
  return [
    { text: 'If it is still wanted, restore its manifest:', copy: place },
    { text: `If not, remove the ${noun} in the console${unless}. Then${after} run:`, shell: `forget ${key}` },
  ]
}

export const MANIFESTS = {
  Valid: row({
    ...WELL,
    means: 'the manifest is valid',
    facts: z.undefined(),
    words: () => 'The manifest is valid.',
  }),
  InvalidManifest: row({
    status: 'Invalid',
    severity: 'warning',
    alert: 'PipewrightFindings',
    renotifies: true,
    means: 'the manifest has errors',
    facts: z.strictObject({
      said: z.string(),
      mistake: z.string().optional(),
      meanwhile: z.enum(['nothing', 'the last valid one']).optional(),
      ...DOUBT,
    }),
    words: ({ said, meanwhile, unknown }) => {
      if (meanwhile === undefined) return said
      const rest =
        meanwhile === 'nothing'
          ? 'The resource stays unchanged until the manifest is corrected.'
          : 'Pipewright uses the last valid version until the manifest is corrected.'
      return withUnknown(`${said} ${rest}`, unknown)
    },
    steps: (facts, about) => [
      { text: 'Correct the manifest:', copy: about.place },
      ...doubtSteps(facts, about),
    ],
  }),
  ManifestVanishing: row({
    ...PROGRESSING,
    means: 'the manifest was not found, and its removal is not confirmed yet',
    facts: z.strictObject({
      /**
       * `readings`: one or two reads did not find the manifest. `a doubtful reading`: the last read was rejected, so it does not count.
       * `another checkout`: this checkout might be stale.
       */
      by: z.enum(['readings', 'a doubtful reading', 'another checkout']).optional(),
      olderThan: z.string().optional(),
      ...DOUBT,
    }),
    words: ({ by, olderThan, unknown }) => {
      const rest = {
        'another checkout': `This checkout might be stale, because another process acted on revision ${olderThan}. The resource stays unchanged until the next revision.`,
        readings:
          'After three equal reads of all files, it counts as removed. The resource stays on the platform. To keep managing it, restore the manifest.',
        'a doubtful reading':
          'Pipewright did not accept this read of the directory. The resource stays unchanged.',
      }
      const text = 'The manifest was not found.'
      return by === undefined ? text : withUnknown(`${text} ${rest[by]}`, unknown)
    },
    steps: (facts, about) => [
      ...(facts?.by === undefined || facts.by === 'readings'
        ? []
        : removalSteps({ is: facts.by === 'another checkout' ? 'older' : 'doubted' }, nounOf(about.key))),
      ...doubtSteps(facts, about),
    ],
  }),
  Orphaned: row({
    status: 'Orphaned',
    severity: 'warning',
    alert: 'PipewrightOrphaned',
    means: 'it has a record, but no longer a manifest',
    facts: ORPHAN.optional(),
    words: (facts) => (facts === undefined ? 'The manifest was removed.' : orphanWords(facts)),
    steps: orphanSteps,
  }),
  Absent: row({
    status: 'Absent',
    severity: 'info',
    means: 'its manifest asks for its deletion, and the ledger has no record of it',
    facts: z.undefined(),
    words: (_facts, noun) =>
      `The ledger has no ${noun} for this manifest: it was deleted, or never recorded.`,
    steps: (_facts, { key, place }) => [
      { text: 'Remove the manifest:', copy: place },
      {
        text: `If the service still has the ${nounOf(key)}, ${
          kindOf(key) === 'QueryEndpoint'
            ? 'remove policy.ensure until Pipewright has applied the endpoint'
            : 'adopt it first: replace policy.ensure by policy.adopt'
        }.`,
      },
    ],
  }),
  Suspended: row({
    status: 'Suspended',
    severity: 'info',
    alert: 'PipewrightSuspendedTooLong',
    means: 'its manifest suspends it for a while',
    facts: z.strictObject({ until: z.string(), why: z.string(), ...DOUBT }),
    words: ({ until, why, unknown }) =>
      withUnknown(`Suspended until ${until}: ${why}. It resumes automatically then.`, unknown),
    steps: doubtSteps,
  }),
} as const
