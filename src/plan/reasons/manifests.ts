import { z } from '../../kinds/zod.ts'
import { nounOf } from '../../kinds/lookup.ts'
import { A_KEY, joined, only, place, plain, PROGRESSING, REFUSED, row, SAID, shellWord, WELL } from './row.ts'
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

function orphanWords({ key, file, pipeId, attempt, isNothing }: z.output<typeof ORPHAN>): string {
  if (isNothing) return 'Its manifest is gone, and there is nothing of it on the platform.'
  const noun = nounOf(key)
  const where = file === undefined ? '' : ` (it was in ${file})`
  return attempt === undefined
    ? `The manifest is gone${where}, and ${pipeId === undefined ? 'what was applied' : `${noun} ${pipeId}`} stays on the platform: ` +
        `nothing is deleted. Bring the manifest back, or remove it in the console and run "pipewright forget ${key}".`
    : `The manifest is gone${where}, and nobody knows whether its ${noun} was created: the create was ${attemptWords(attempt)}. ` +
        `Bring the manifest back, or look for the ${noun} in the console, remove it there, and run "pipewright forget ${key}".`
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
          ? 'Nothing is done until it is valid.'
          : 'The last valid one is kept and looked after until it is valid again.'
      return withUnknown(`${said} ${rest}`, unknown)
    },
    steps: place('Correct the manifest:'),
  }),
  ManifestVanishing: row({
    ...PROGRESSING,
    means: 'the manifest was not found; not believed yet',
    facts: z.strictObject({
      /** By the last reading or two; by the last one, which is not believed. */
      by: z.enum(['readings', 'a doubtful reading']).optional(),
      ...DOUBT,
    }),
    sample: { by: 'readings' },
    words: ({ by, unknown }) => {
      switch (by) {
        case undefined:
          return only('The manifest was not found.')
        case 'readings':
          return withUnknown(
            'The manifest was not found; it counts as gone after three readings that agree. Nothing changes until then.',
            unknown,
          )
        case 'a doubtful reading':
          return only(
            'The manifest was not found by the last reading, which is not believed. Nothing is created or applied until one is.',
          )
      }
    },
  }),
  Orphaned: row({
    status: 'Orphaned',
    severity: 'warning',
    alert: 'PipewrightOrphaned',
    means: 'it is recorded, but its manifest is gone',
    facts: ORPHAN.optional(),
    sample: { key: 'Pipe/orders', file: 'orders.yaml', pipeId: 'ID', isNothing: false },
    words: (facts) => only(facts === undefined ? 'The manifest is gone.' : orphanWords(facts)),
    steps: (_facts, about) => [
      { text: 'If it is still wanted, bring its manifest back, which was in:', copy: about.place },
      { text: 'If not, remove it in the console, and then:', shell: `forget ${about.key}` },
    ],
  }),
  Suspended: row({
    status: 'Suspended',
    severity: 'info',
    alert: 'PipewrightSuspendedTooLong',
    means: 'its manifest says to leave it alone for a while',
    facts: z.strictObject({ until: z.string(), why: z.string(), ...DOUBT }),
    sample: { until: '2027-01-31T00:00:00Z', why: 'migration' },
    words: ({ until, why, unknown }) =>
      withUnknown(`Suspended until ${until}: ${why}. It is left alone and goes on by itself then.`, unknown),
  }),
  ServiceInvalid: row({
    ...REFUSED,
    means: 'the Service that it belongs to has no valid manifest',
    facts: SAID,
    sample: { said: 'Service/analytics has no valid manifest; it goes on by itself when it has.' },
    words: ({ said }) => only(said),
    steps: (_facts, { service }) => {
      const text = 'Correct the manifest of its Service, or spec.service in this one:'
      return [service === undefined ? { text } : { text, shell: `status Service/${shellWord(service)}` }]
    },
  }),
} as const
