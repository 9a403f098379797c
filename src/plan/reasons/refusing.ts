import { nameOf } from '../../kinds/key.ts'
import { z } from '../../kinds/zod.ts'
import { A_KEY, A_TIME, only, place, PROGRESSING, REFUSED, row, SAID, type Step } from './row.ts'
import { UNKNOWN } from './unknown.ts'

/** Two keys that may be one pipe. */
const SIMILAR = z.strictObject({
  key: A_KEY,
  other: A_KEY,
  /** Where the other's manifest is, or was. */
  file: z.string().optional(),
})
type SimilarFacts = z.output<typeof SIMILAR>

const KIN_SAMPLE = { key: 'Pipe/new', other: 'Pipe/old' } as const

function isNew({ key, other }: SimilarFacts): string {
  return `if ${nameOf(key)} is to be a new pipe beside it, set policy.replaces: ${other}.`
}

function placed({ other, file }: SimilarFacts): string {
  return file === undefined ? other : `${other} (${file})`
}

function replaces(facts: SimilarFacts | undefined): readonly Step[] {
  return facts === undefined
    ? []
    : [{ text: 'If it is to be a new pipe beside it:', git: `policy: {replaces: ${facts.other}}` }]
}

/** A mounted file that was looked for in vain. */
const MISSING_SECRET = z.strictObject({
  file: z.string(),
  why: z.enum(['absent', 'unreadable', 'empty', 'malformed']),
})
export type MissingSecret = z.output<typeof MISSING_SECRET>

const SECRET_TEXT: Readonly<Record<MissingSecret['why'], string>> = {
  absent: 'Mount the secret; it goes on by itself then:',
  empty: 'The mounted file is empty: put the secret into it; it goes on by itself then:',
  malformed: 'The mounted file holds something else: correct it; it goes on by itself then:',
  unreadable: 'The mounted file cannot be read: let Pipewright read it; it goes on by itself then:',
}

const SECRETS_SHOWN = 3

/** Why nothing is created. */
export const REFUSING = {
  RenameSuspected: row({
    ...REFUSED,
    means: 'a recorded pipe without a manifest looks like this one',
    facts: SIMILAR.extend({
      /** It has a record of its own, which can take no other. */ hasPipe: z.boolean(),
    }),
    sample: { ...KIN_SAMPLE, hasPipe: false },
    words: (facts) => {
      const { key, other, hasPipe } = facts
      const same = hasPipe
        ? `policy.adopt: <its id>, then run "pipewright forget ${other}"`
        : `policy.renamedFrom: ${other}`
      return only(
        `${other} is recorded, has no manifest any more, and looks like ${key}. If it is the same pipe, set ${same}; ${isNew(facts)}`,
      )
    },
    steps: (facts) => [
      ...(facts === undefined
        ? []
        : [{ text: 'If it is the same pipe:', git: `policy: {renamedFrom: ${facts.other}}` }]),
      ...replaces(facts),
    ],
  }),
  NameTaken: row({
    ...REFUSED,
    means: 'the pipe of another manifest looks like this one',
    facts: SIMILAR,
    sample: KIN_SAMPLE,
    words: (facts) =>
      only(
        `${placed(facts)} has the same service, and the same spec.name or all else the same. If this one is its new name, ` +
          `remove that manifest: the pipe is kept. If it is a copy, give it a spec of its own; ${isNew(facts)}`,
      ),
    steps: (facts, about) => [
      { text: 'If it is a copy, give it a spec of its own:', copy: about.place },
      ...replaces(facts),
    ],
  }),
  RenameWaiting: row({
    ...REFUSED,
    means: 'the pipe it was renamed from cannot move yet',
    facts: SIMILAR,
    sample: KIN_SAMPLE,
    words: (facts) =>
      only(
        `policy.renamedFrom names ${placed(facts)}, whose record cannot move yet: its manifest is still there, or its ` +
          'creation is under way. Remove that manifest; the record moves by itself then.',
      ),
    steps: (facts) => [
      {
        text: 'Remove the manifest of the old name; the pipe is kept and moves by itself then:',
        copy: facts?.other,
      },
    ],
  }),
  CreateLimit: row({
    ...REFUSED,
    alert: 'PipewrightCreateLimitOn',
    means: 'too many creations are wanted at once',
    facts: z.strictObject({ wanted: z.number(), limit: z.number() }),
    sample: { wanted: 30, limit: 25 },
    words: ({ wanted, limit }) =>
      only(
        `${wanted} creations are wanted at once, and at most ${limit} are let pass (--max-creates). If that is ` +
          'right, raise the limit, or run "pipewright apply --yes" while no daemon runs; if not, look at what changed in the ' +
          'directory.',
      ),
    steps: () => [
      {
        text: 'If so many creations are right, stop the daemon, which holds the ledger, and let them pass once:',
        shell: 'apply --yes',
      },
    ],
  }),
  DependencyNotReady: row({
    ...REFUSED,
    means: 'something it depends on is not ready',
    facts: z.strictObject({ waitsFor: z.array(A_KEY).readonly() }),
    sample: { waitsFor: ['Pipe/other'] },
    words: ({ waitsFor }) =>
      only(`It waits for ${waitsFor.join(', ')} (policy.dependsOn) to be ready, and goes on by itself then.`),
    steps: (facts) => {
      const text = 'It waits for another one; look at that first:'
      const [first] = facts?.waitsFor ?? []
      return [first === undefined ? { text } : { text, shell: `status ${first}` }]
    },
  }),
  SecretUnavailable: row({
    ...REFUSED,
    means: 'a secret it refers to is not mounted',
    facts: z.strictObject({
      missing: z.array(MISSING_SECRET).readonly(),
      /** In the words of whoever needed it for a request. */
      said: z.string().optional(),
    }),
    sample: { missing: [{ file: 'SECRETS_DIR/NAME/KEY', why: 'absent' }] },
    words: ({ missing, said }) => {
      if (said !== undefined) return only(said)
      const files = missing.map(({ file, why }) => (why === 'absent' ? file : `${file} (${why})`))
      return {
        cause: `No secret at ${files.join(', ')}.`,
        remedy: 'Mount the secret there or correct the secretRef; it goes on by itself then.',
      }
    },
    steps: (facts, about) => [
      ...(facts?.missing ?? [])
        .slice(0, SECRETS_SHOWN)
        .map(({ file, why }) => ({ text: SECRET_TEXT[why], copy: file })),
      { text: 'Or correct the secretRef:', copy: about.place },
    ],
  }),
  LockUnreadable: row({
    ...REFUSED,
    means: 'a file that may hold a Lock cannot be read',
    facts: z.strictObject({
      /** The first of them; an empty text is the whole directory. */
      files: z.array(z.string()).readonly(),
      more: z.number(),
    }),
    sample: { files: ['lock.yaml'], more: 0 },
    words: ({ files, more }) => {
      const shown = files.map((file) => (file === '' ? 'the manifests directory' : file))
      return only(
        `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''} cannot be read as a whole and may hold a Lock that names ` +
          'the pipe to take over. Correct that; it goes on by itself then.',
      )
    },
    steps: place('Correct the file that is named above; it goes on by itself then. This one is:'),
  }),
  ...UNKNOWN,
  OutcomeUnsaved: row({
    status: 'Failed',
    severity: 'critical',
    alert: 'PipewrightOutcomeUnsaved',
    means: 'a create has an outcome, and the ledger cannot be written',
    facts: z.strictObject({
      key: A_KEY,
      end: z.enum(['created', 'failed', 'unknown']),
      pipeId: z.string().optional(),
      /** What was seen of the reply, in words. */
      seen: z.string(),
    }),
    sample: { key: 'Pipe/orders', end: 'created', pipeId: 'ID', seen: '' },
    words: ({ key, end, pipeId, seen }) => {
      const again =
        'The ledger cannot be written; this is kept in memory and tried again. Make room on its volume, or repair it, and do not restart Pipewright before: a restart would lose it.'
      switch (end) {
        case 'created':
          return only(
            `Pipe ${pipeId} was created for ${key}. ${again} If it is lost, run "pipewright resolve ${key} --adopt ${pipeId}".`,
          )
        case 'failed':
          return only(`Nothing was created for ${key} (${seen}). ${again}`)
        case 'unknown':
          return only(`Nobody knows whether a pipe was created for ${key} (${seen}). ${again}`)
      }
    },
    steps: (facts, { key, pipeId = facts?.pipeId }) => [
      {
        text: 'Make room on the volume of the ledger, or repair it. Do not restart Pipewright before: it knows more than the ledger.',
      },
      ...(pipeId === undefined
        ? []
        : [{ text: 'If it was restarted all the same:', shell: `resolve ${key} --adopt ${pipeId}` }]),
    ],
  }),
  AdoptRefused: row({
    ...REFUSED,
    means: 'the pipe to take over cannot be taken over',
    facts: z.union([SAID, z.strictObject({ named: z.string(), pipeId: z.string() })]),
    sample: { named: 'OTHER_ID', pipeId: 'ID' },
    words: (facts) =>
      only(
        'said' in facts
          ? facts.said
          : `policy.adopt names ${facts.named}, but this is already pipe ${facts.pipeId}, which exists. Remove policy.adopt, or give ` +
              'the other pipe a manifest of its own.',
      ),
    steps: place('Correct policy.adopt, or the Lock that names this pipe:'),
  }),
  BackingOff: row({
    ...PROGRESSING,
    means: 'it failed and waits for its next attempt',
    facts: SAID.extend({ until: A_TIME.optional() }),
    sample: { said: 'It failed.', until: 0 },
    words: ({ said, until }) =>
      only(until === undefined ? said : `${said} It is tried again at ${new Date(until).toISOString()}.`),
  }),
} as const
