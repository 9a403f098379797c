import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { undecidedIntent } from '../../src/plan/outcome-unknown.ts'
import type { Written } from '../reconcile/model-ledger.ts'
import { histories } from './histories.ts'
import { begin } from './history.ts'

/* A property over histories in which nothing happens would always hold. */

const HISTORIES = 250
const SEED = 8

/** Things that have to come up, and how a write shows them. */
const EVENTS: Readonly<Record<string, (write: Written) => boolean>> = {
  'a pipe was created': ({ before, after }) =>
    before?.pipe === undefined && after?.pipe?.origin === 'created',
  'an outcome stayed unknown': ({ before, after }) =>
    before?.intent?.state === 'open' && after?.intent?.state === 'unknown',
  'a create failed without effect': ({ before, after }) =>
    before?.intent?.state === 'open' && after?.intent?.state === 'failed',
  'an attempt was made again': ({ before, after }) =>
    after?.intent?.id !== before?.intent?.id && (after?.intent?.attempt ?? 0) > 1,
  'a person approved of another attempt': ({ before, after }) =>
    before !== undefined && undecidedIntent(before) !== undefined && after?.intent?.state === 'dismissed',
  'a missing pipe was created anew': ({ before, after }) =>
    before?.pipe !== undefined && after?.intent?.state === 'open' && after.pipe === undefined,
  'a pipe was taken over': ({ before, after }) =>
    before?.pipe?.id !== after?.pipe?.id && after?.pipe?.origin === 'adopted',
  'an unknown outcome was settled by that': ({ before, after }) =>
    before !== undefined && undecidedIntent(before) !== undefined && after?.pipe?.origin === 'adopted',
  'a record moved': ({ moved, after }) => moved !== undefined && after !== undefined,
  'an unknown outcome moved': ({ moved, after }) =>
    moved !== undefined && after !== undefined && undecidedIntent(after) !== undefined,
  'a replacement was refused, and the id given back': ({ before, after }) =>
    before?.former !== undefined &&
    after?.pipe?.id === before.former.pipe.id &&
    after.intent?.state === 'failed',
  'a pipe that was missed was found again': ({ before, after }) =>
    before?.pipe?.id === after?.pipe?.id &&
    before?.conditions?.Synced.reason === 'MissingUnconfirmed' &&
    after?.conditions?.Synced.reason === 'InSync',
  'a pipe that was called missing was found again': ({ before, after }) =>
    before?.pipe?.id === after?.pipe?.id &&
    isCalledGone(before?.conditions?.Synced.reason) &&
    after?.conditions?.Synced.reason === 'InSync',
  'a pipe was found by the id in a reply that was not whole': ({ before, after }) =>
    before?.intent?.seen?.pipeId !== undefined && after?.pipe?.id === before.intent.seen.pipeId,
  'a pipe was replaced on the word of a person': ({ after }) =>
    after?.intent?.state === 'open' && after.intent.reason === 'RecreateApproved',
  'a word that a pipe is gone was refuted': ({ before, after }) =>
    before?.pipe?.refutedAt === undefined && after?.pipe?.refutedAt !== undefined,
  'a word to create again was read too early': ({ before, after }) =>
    before?.intent?.saidEarlyAt === undefined && after?.intent?.saidEarlyAt !== undefined,
  'a record was forgotten': ({ moved, after }) => moved === undefined && after === undefined,
  ...Object.fromEntries(
    [
      'AdoptRefused',
      'AuthFailed',
      'Drifted',
      'InvalidManifest',
      'MassMissing',
      'NeverSeen',
      'ReplacedRecently',
      'LockUnreadable',
      'ServiceIdle',
      'Missing',
      'MissingUnconfirmed',
      'NotUpdatable',
      'Orphaned',
      'OutcomeUnknown',
      'RateLimited',
      'Rejected',
      'RenameSuspected',
      'SecretRotated',
      'SecretUnavailable',
      'ServiceInvalid',
      'Suspended',
      'Unavailable',
      'DependencyNotReady',
    ].map((reason) => [
      `something was ${reason}`,
      ({ after }: Written) =>
        after?.conditions?.Synced.reason === reason || after?.conditions?.Valid.reason === reason,
    ]),
  ),
}

function isCalledGone(reason: string | undefined): boolean {
  return reason === 'Missing' || reason === 'AuthFailed' || reason === 'Rejected' || reason === 'RateLimited'
}

test('histories reach every state that matters', async () => {
  const parsed = new Map()
  const counts = new Map<string, number>()
  for (const commands of fc.sample(histories, { numRuns: HISTORIES, seed: SEED })) {
    const play = await begin(parsed)
    for (const command of commands) await play.play(command)
    for (const [event, shows] of Object.entries(EVENTS)) {
      const seen = play.around.writes.filter(shows).length
      counts.set(event, (counts.get(event) ?? 0) + seen)
    }
    const event = 'a wait changed what was decided'
    counts.set(event, (counts.get(event) ?? 0) + play.around.platform.unused)
  }
  expect([...counts].filter(([, count]) => count === 0)).toEqual([])
}, 120_000)
