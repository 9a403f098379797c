import { z } from '../../kinds/zod.ts'
import { anyOf, nounOf } from '../../kinds/lookup.ts'
import {
  A_KEY,
  joined,
  only,
  place,
  plain,
  PROGRESSING,
  REFUSED,
  row,
  SAID,
  shellWord,
  WELL,
  type About,
  type Step,
  type Words,
} from './row.ts'
import { attemptWords, UNKNOWN_ATTEMPT, UNKNOWN_OUTCOME, unknownWords } from './unknown.ts'

/** A create of the key that may have worked waits for a person, whatever else holds it. */
const DOUBT = { unknown: UNKNOWN_OUTCOME.optional() }

function withUnknown(text: string, unknown: z.output<typeof UNKNOWN_OUTCOME> | undefined) {
  return only(unknown === undefined ? text : `${text} ${joined(unknownWords(unknown))}`)
}

const ORPHAN = z.strictObject({
  key: A_KEY,
  /** Where the manifest was. */
  file: z.string().optional(),
  /** What stays on the platform: what was created, or what was applied. */
  pipeId: z.string().optional(),
  /** Nobody knows whether it was created. */
  attempt: UNKNOWN_ATTEMPT.optional(),
  /** Nothing stays. */
  isNothing: z.boolean(),
})

function orphanWords(orphan: z.output<typeof ORPHAN>): Words {
  const { key, file, pipeId, attempt, isNothing } = orphan
  if (isNothing) return only('Its manifest was removed, and nothing of it is on the platform.')
  const noun = nounOf(key)
  const where = file === undefined ? '' : ` (it was in ${file})`
  if (attempt !== undefined) {
    return {
      cause: `The manifest was removed${where}, and nobody knows whether its ${noun} was created: the create was ${attemptWords(attempt)}.`,
      remedy: `Bring the manifest back. Or look for the ${noun} in the console, remove it there, and run "pipewright forget ${key}".`,
    }
  }
  // A service has one: under another name it may be what another manifest applies.
  if (pipeId === undefined) {
    return {
      cause: `The manifest was removed${where}. Nothing is deleted: what was applied stays on the platform.`,
      remedy:
        `Bring the manifest back, or run "pipewright forget ${key}". Remove the ${noun} in the console only if no other manifest of its ` +
        'service applies one.',
    }
  }
  return {
    cause: `The manifest was removed${where}. Nothing is deleted: ${noun} ${pipeId} stays on the platform.`,
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
      cause: `The manifest only watches another ${noun} now. Nothing is deleted: ${noun} ${pipeId}, which it had before, stays on the platform.`,
      remedy: `To watch that one, set spec.id: ${pipeId}. ${back} ${away}`,
    }
  const how = attempt === undefined ? '' : `: the create was ${attemptWords(attempt)}`
  return {
    cause: `The manifest only watches ${anyOf(noun)} now, and nobody knows whether one was created for it before${how}.`,
    remedy: `Look for it in the console. ${back} ${away}`,
  }
}

/** What is left to do where it stays. */
function afterOrphan({ key, pipeId }: About): Step {
  return pipeId === undefined
    ? {
        text: 'If not, remove it in the console, unless another manifest of its service applies one. Then run:',
        shell: `forget ${key}`,
      }
    : { text: 'If not, remove it in the console, then run:', shell: `forget ${key}` }
}

/** What the manifest says, or that there is none. */
export const MANIFESTS = {
  Valid: plain({ ...WELL, means: 'the manifest is valid', message: 'The manifest is valid.' }),
  InvalidManifest: row({
    status: 'Invalid',
    severity: 'warning',
    alert: 'PipewrightFindings',
    toldAnew: true,
    means: 'the manifest has errors',
    facts: z.strictObject({
      /** Its first finding, with its place. */
      said: z.string(),
      /** The same without its place: equal for equal mistakes. */
      mistake: z.string().optional(),
      /** What is done until it is valid; undefined: that is not said. */
      meanwhile: z.enum(['nothing', 'the last valid one']).optional(),
      ...DOUBT,
    }),
    sample: { said: 'The manifest has errors.' },
    words: ({ said, meanwhile, unknown }) => {
      if (meanwhile === undefined) return only(said)
      const rest =
        meanwhile === 'nothing'
          ? 'Nothing is done until it is corrected.'
          : 'The last valid version stays in force until it is corrected.'
      return withUnknown(`${said} ${rest}`, unknown)
    },
    steps: place('Correct the manifest:'),
  }),
  ManifestVanishing: row({
    ...PROGRESSING,
    means: 'the manifest was not found; not confirmed yet',
    facts: z.strictObject({
      /** By the last reading or two; by the last one, which was not accepted; or at a revision that may be older than what was acted on. */
      by: z.enum(['readings', 'a doubtful reading', 'another checkout']).optional(),
      /** What was acted on. */
      olderThan: z.string().optional(),
      ...DOUBT,
    }),
    sample: { by: 'readings' },
    words: ({ by, olderThan, unknown }) => {
      switch (by) {
        case undefined:
          return only('The manifest was not found.')
        case 'another checkout':
          return withUnknown(
            `The manifest was not found. Another process has acted on revision ${olderThan}, which may be newer than the one here: nothing counts as removed until the manifests are read at another revision, or somebody has them accepted as they are.`,
            unknown,
          )
        case 'readings':
          return withUnknown(
            'The manifest was not found. It counts as removed after three readings that agree; nothing changes until then.',
            unknown,
          )
        case 'a doubtful reading':
          return only(
            'The last reading did not find the manifest, and it was not accepted. Nothing is created or applied until a reading is accepted.',
          )
      }
    },
  }),
  Orphaned: row({
    status: 'Orphaned',
    severity: 'warning',
    alert: 'PipewrightOrphaned',
    means: 'it is recorded, but its manifest was removed',
    facts: ORPHAN.optional(),
    sample: { key: 'Pipe/orders', file: 'orders.yaml', pipeId: 'ID', isNothing: false },
    words: (facts) => (facts === undefined ? only('The manifest was removed.') : orphanWords(facts)),
    steps: (_facts, about) => [
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
        'If the service has one all the same, adopt it first: set policy.adopt and take policy.ensure out. Otherwise remove the manifest.',
    }),
    steps: place('Remove the manifest:'),
  }),
  LeftBehind: row({
    status: 'Orphaned',
    severity: 'warning',
    alert: 'PipewrightOrphaned',
    toldAnew: true,
    means: 'its manifest asked for one to be created, and now only watches another one',
    facts: z.strictObject({
      key: A_KEY,
      /** What stays on the platform. */
      pipeId: z.string().optional(),
      /** Nobody knows whether it was created. */
      attempt: UNKNOWN_ATTEMPT.optional(),
    }),
    sample: { key: 'Alert/lag', pipeId: 'ID' },
    words: ({ key, pipeId, attempt }) => leftBehindWords(nounOf(key), pipeId, attempt),
    steps: (facts, about) => [
      ...(facts?.pipeId === undefined
        ? []
        : [{ text: 'To watch the one that stays, set spec.id to:', copy: facts.pipeId }]),
      { text: 'Or remove spec.id and write what it was created with, in:', copy: about.place },
    ],
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
  ServiceInvalid: row({
    ...REFUSED,
    means: 'the Service it belongs to has no valid manifest',
    facts: SAID,
    sample: { said: 'Service/analytics has no valid manifest. This resumes automatically when it has one.' },
    words: ({ said }) => only(said),
    steps: (_facts, { service }) => {
      const text = 'Correct the Service manifest, or spec.service in this one:'
      return [service === undefined ? { text } : { text, shell: `status Service/${shellWord(service)}` }]
    },
  }),
} as const
