import { expect, test } from 'vitest'
import { undecidedIntent } from '../../src/plan/outcome-unknown.ts'
import type { Reason } from '../../src/plan/reason.ts'
import type { Written } from '../support/oracle.ts'
import { tellWalks } from '../explore/walk.ts'
import { LARGE_WORLDS } from '../explore/worlds.ts'

/** More of them, or others: `WALKS=10000 SEED=7 npm run test:slow -- test/slow/walks.test.ts`. */
const WALKS = Number(process.env['WALKS'] ?? 300)
const SEED = process.env['SEED'] ?? '1'

/** What has to come up in them, and how a write of the ledger shows it: stories in which nothing happens break no law. */
const EVENTS: Readonly<Record<string, (written: Written) => boolean>> = {
  'a pipe was created': ({ before, after }) =>
    before?.remote === undefined && after?.remote?.origin === 'created',
  'an outcome stayed unknown': ({ before, after }) =>
    before?.intent?.state === 'open' && after?.intent?.state === 'unknown',
  'a create failed without effect': ({ before, after }) =>
    before?.intent?.state === 'open' && after?.intent?.state === 'failed',
  'an attempt was made again': ({ before, after }) =>
    after?.intent?.id !== before?.intent?.id && (after?.intent?.attempt ?? 0) > 1,
  'a person approved of another attempt': ({ before, after }) =>
    before !== undefined && undecidedIntent(before) !== undefined && after?.intent?.state === 'dismissed',
  'a missing pipe was created anew': ({ before, after }) =>
    before?.remote !== undefined && after?.intent?.state === 'open' && after.remote === undefined,
  'a pipe was taken over': ({ before, after }) =>
    before?.remote?.id !== after?.remote?.id && after?.remote?.origin === 'adopted',
  'an unknown outcome was settled by that': ({ before, after }) =>
    before !== undefined && undecidedIntent(before) !== undefined && after?.remote?.origin === 'adopted',
  'a record moved': ({ moved, after }) => moved !== undefined && after !== undefined,
  'an unknown outcome moved': ({ moved, after }) =>
    moved !== undefined && after !== undefined && undecidedIntent(after) !== undefined,
  'a replacement was refused, and the id given back': ({ before, after }) =>
    before?.former !== undefined &&
    after?.remote?.id === before.former.remote.id &&
    after.intent?.state === 'failed',
  'a pipe that was missed was found again': ({ before, after }) =>
    before?.remote?.id === after?.remote?.id &&
    before?.conditions?.Synced.reason === 'MissingUnconfirmed' &&
    after?.conditions?.Synced.reason === 'InSync',
  'a pipe was found by the id in a reply that was not whole': ({ before, after }) =>
    before?.intent?.seen?.pipeId !== undefined && after?.remote?.id === before.intent.seen.pipeId,
  'a pipe was replaced on the word of a person': ({ after }) =>
    after?.intent?.state === 'open' && after.intent.reason === 'New' && after.former !== undefined,
  'a word that a pipe is gone was refuted': ({ before, after }) =>
    before?.remote?.refutedAt === undefined && after?.remote?.refutedAt !== undefined,
  'a word to create again was read too early': ({ before, after }) =>
    before?.intent?.saidEarlyAt === undefined && after?.intent?.saidEarlyAt !== undefined,
  'a record was forgotten': ({ moved, after }) => moved === undefined && after === undefined,
}

const REACHED: readonly Reason[] = [
  'AdoptRefused',
  'AuthFailed',
  'DependencyNotReady',
  'Drifted',
  'InvalidManifest',
  'MassMissing',
  'MissingUnconfirmed',
  'NeverSeen',
  'NotUpdatable',
  'Orphaned',
  'OutcomeUnknown',
  'RateLimited',
  'Rejected',
  'Ambiguous',
  'SecretRotated',
  'SecretUnavailable',
  'ServiceIdle',
  'Suspended',
  'Unavailable',
]

const missing = new Set<string>([...Object.keys(EVENTS), ...REACHED])

function note(written: Written): void {
  const { Synced, Valid } = written.after?.conditions ?? {}
  for (const event of missing)
    if (EVENTS[event]?.(written) ?? [Synced?.reason, Valid?.reason].includes(event as Reason))
      missing.delete(event)
}

test.each(LARGE_WORLDS.map((world) => [world.name, world] as const))(
  'long stories of the world "%s" break no law; and once nothing fails any more, everything settles and stays so',
  async (_, world) => {
    expect(await tellWalks(world, { seed: SEED, count: WALKS, see: note })).toBeUndefined()
  },
)

test('they reach every state that matters', () => {
  expect([...missing]).toEqual([])
})
