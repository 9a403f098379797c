import { z } from '../../kinds/zod.ts'
import { anyOf, nounOf } from '../../kinds/lookup.ts'
import { A_KEY, joined, PROGRESSING, row, WELL, type About, type Step, type Words } from './row.ts'
import { attemptWords, UNKNOWN_ATTEMPT, UNKNOWN_OUTCOME, unknownWords } from './unknown.ts'

/** Needs a person, under every other hold. */
const DOUBT = { unknown: UNKNOWN_OUTCOME.omit({ before: true }).optional() }

function withUnknown(text: string, unknown: z.output<typeof UNKNOWN_OUTCOME> | undefined) {
  return unknown === undefined ? text : `${text} ${joined(unknownWords(unknown))}`
}

const ORPHAN = z.strictObject({
  key: A_KEY,
  file: z.string().optional(),
  pipeId: z.string().optional(),
  attempt: UNKNOWN_ATTEMPT.optional(),
  isNothing: z.boolean(),
  /** Its manifest only watches another alert now. */
  isWatching: z.literal(true).optional(),
})

function orphanWords(orphan: z.output<typeof ORPHAN>): Words {
  const { key, file, pipeId, attempt, isNothing, isWatching } = orphan
  if (isWatching === true) return leftBehindWords(nounOf(key), pipeId, attempt)
  if (isNothing) return 'Its manifest was removed, and the platform has no such resource.'
  const noun = nounOf(key)
  const where = file === undefined ? '' : ` (it was in ${file})`
  if (attempt !== undefined) {
    return {
      cause: `The manifest was removed${where}, and its ${noun} might have been created: the create was ${attemptWords(attempt)}.`,
      remedy: `Bring the manifest back. Or look for the ${noun} in the console, remove it there, and run "pipewright forget ${key}".`,
    }
  }
  // Another manifest might apply it under a new name.
  if (pipeId === undefined) {
    return {
      cause: `The manifest was removed${where}. No resource is deleted: what was applied stays on the platform.`,
      remedy:
        `Bring the manifest back, or run "pipewright forget ${key}". Remove the ${noun} in the console only if no other manifest of its ` +
        'service applies one.',
    }
  }
  return {
    cause: `The manifest was removed${where}. No resource is deleted: ${noun} ${pipeId} stays on the platform.`,
    remedy: `Bring the manifest back, or remove the ${noun} in the console and run "pipewright forget ${key}".`,
  }
}

function leftBehindWords(
  noun: string,
  pipeId: string | undefined,
  attempt: z.output<typeof UNKNOWN_ATTEMPT> | undefined,
): Words {
  const back = `To have it looked after again, remove spec.id and write what it was created with.`
  const away = `To give it up, rename this manifest; then the old name is Orphaned, and can be forgotten.`
  if (pipeId !== undefined)
    return {
      cause: `The manifest only watches another ${noun} now. No resource is deleted: ${noun} ${pipeId}, which it had before, stays on the platform.`,
      remedy: `To watch that one, set spec.id: ${pipeId}. ${back} ${away}`,
    }
  const how = attempt === undefined ? '' : `: the create was ${attemptWords(attempt)}`
  return {
    cause: `The manifest only watches ${anyOf(noun)} now, and one might have been created for it before${how}.`,
    remedy: `Look for it in the console. ${back} ${away}`,
  }
}

function afterOrphan({ key, pipeId }: About): Step {
  return pipeId === undefined
    ? {
        text: 'If not, remove it in the console, unless another manifest of its service applies one. Then run:',
        shell: `forget ${key}`,
      }
    : { text: 'If not, remove it in the console, then run:', shell: `forget ${key}` }
}

export const MANIFESTS = {
  Valid: row({
    ...WELL,
    means: 'the manifest is valid',
    facts: z.undefined(),
    sample: undefined,
    words: () => 'The manifest is valid.',
  }),
  InvalidManifest: row({
    status: 'Invalid',
    severity: 'warning',
    alert: 'PipewrightFindings',
    toldAnew: true,
    means: 'the manifest has errors',
    facts: z.strictObject({
      said: z.string(),
      mistake: z.string().optional(),
      meanwhile: z.enum(['nothing', 'the last valid one']).optional(),
      ...DOUBT,
    }),
    sample: { said: 'The manifest has errors.' },
    words: ({ said, meanwhile, unknown }) => {
      if (meanwhile === undefined) return said
      const rest =
        meanwhile === 'nothing'
          ? 'The resource stays unchanged until the manifest is corrected.'
          : 'The last valid version stays in force until it is corrected.'
      return withUnknown(`${said} ${rest}`, unknown)
    },
    steps: (_facts, { place }) => [{ text: 'Correct the manifest:', copy: place }],
  }),
  ManifestVanishing: row({
    ...PROGRESSING,
    means: 'the manifest was not found; not confirmed yet',
    facts: z.strictObject({
      /**
       * `readings`: missed by one or two. `a doubtful reading`: the last read was refused. `another
       * checkout`: it might be stale.
       */
      by: z.enum(['readings', 'a doubtful reading', 'another checkout']).optional(),
      /** Revision that another process acted on. */
      olderThan: z.string().optional(),
      ...DOUBT,
    }),
    sample: { by: 'readings' },
    words: ({ by, olderThan, unknown }) => {
      switch (by) {
        case undefined:
          return 'The manifest was not found.'
        case 'another checkout':
          return withUnknown(
            `The manifest was not found. Another process has acted on revision ${olderThan}, which might be newer. No resource counts as removed until another revision is read or an operator accepts the manifests.`,
            unknown,
          )
        case 'readings':
          return withUnknown(
            'The manifest was not found. It counts as removed after three equal readings. The resource stays unchanged until then.',
            unknown,
          )
        case 'a doubtful reading':
          return 'The last reading did not find the manifest, and it was not accepted. No resource is created or applied until a reading is accepted.'
      }
    },
  }),
  Orphaned: row({
    status: 'Orphaned',
    severity: 'warning',
    alert: 'PipewrightOrphaned',
    means: 'it is recorded, but no manifest describes it any more',
    facts: ORPHAN.optional(),
    sample: { key: 'Pipe/orders', file: 'orders.yaml', pipeId: 'ID', isNothing: false },
    words: (facts) => (facts === undefined ? 'The manifest was removed.' : orphanWords(facts)),
    steps: (facts, about) =>
      facts?.isWatching === true
        ? [
            ...(facts.pipeId === undefined
              ? []
              : [{ text: 'To watch the remaining alert, set spec.id to:', copy: facts.pipeId }]),
            { text: 'Or remove spec.id and write what it was created with, in:', copy: about.place },
          ]
        : [
            { text: 'If it is still wanted, restore its manifest. It was in:', copy: about.place },
            afterOrphan(about),
          ],
  }),
  Absent: row({
    status: 'Absent',
    severity: 'info',
    means: 'its manifest asks to have none, and none is recorded',
    facts: z.undefined(),
    sample: undefined,
    words: (_facts, noun) => ({
      cause: `policy.ensure is "absent", and the ledger holds no ${noun} of this manifest. One that it does not hold is not deleted.`,
      remedy:
        'If the service has it nevertheless, adopt it first: set policy.adopt and remove policy.ensure. Otherwise remove the manifest.',
    }),
    steps: (_facts, { place }) => [{ text: 'Remove the manifest:', copy: place }],
  }),
  Suspended: row({
    status: 'Suspended',
    severity: 'info',
    alert: 'PipewrightSuspendedTooLong',
    means: 'its manifest suspends it for a while',
    facts: z.strictObject({ until: z.string(), why: z.string(), ...DOUBT }),
    sample: { until: '2027-01-31T00:00:00Z', why: 'migration' },
    words: ({ until, why, unknown }) =>
      withUnknown(`Suspended until ${until}: ${why}. It resumes automatically then.`, unknown),
  }),
} as const
