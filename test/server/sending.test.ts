import { describe, expect, it } from 'vitest'
import { sendingOf, type Sending } from '../../src/server/api/resources.ts'
import type { Key } from '../../src/kinds/key.ts'
import { condition, resource, type Over } from './fake-parts.ts'

const ID = { pipeId: '4af1717b-52aa-4b4b-aeab-b07a38d5e150' }

const UNSYNCED = { ...resource('Pipe/x').conditions, Synced: condition('False', { reason: 'Rejected' }) }

const PIPES: readonly (readonly [why: string, over: Over, sending: Sending])[] = [
  ['in sync', ID, 'created'],
  ['just created', { ...ID, action: 'create' }, 'created'],
  ['just adopted', { ...ID, action: 'adopt' }, 'created'],
  ['drifted', { ...ID, action: 'report', reason: 'Drifted' }, 'created'],
  ['edited since it was created', { ...ID, action: 'report', reason: 'NotUpdatable' }, 'created'],
  ['suspended, and created before', { ...ID, action: 'hold', reason: 'Suspended' }, 'created'],
  ['invalid, and created before', { ...ID, action: 'hold', reason: 'InvalidManifest' }, 'created'],
  ['there, while the manifest names another', { ...ID, action: 'refuse', reason: 'AdoptRefused' }, 'created'],
  ['not found, not believed yet', { ...ID, action: 'hold', reason: 'MissingUnconfirmed' }, 'held'],
  ['gone, and only reported', { ...ID, action: 'report', reason: 'Missing' }, 'held'],
  ['gone with many others', { ...ID, action: 'refuse', reason: 'MassMissing' }, 'held'],
  ['gone, while the create limit is reached', { ...ID, action: 'refuse', reason: 'CreateLimit' }, 'held'],
  [
    'gone, and being replaced',
    { ...ID, action: 'create', reason: 'Rejected', conditions: UNSYNCED },
    'create',
  ],
  ['being created', { action: 'create', reason: 'Rejected', conditions: UNSYNCED }, 'create'],
  ['suspended before it was created', { action: 'hold', reason: 'Suspended' }, 'held'],
  ['refused', { action: 'refuse', reason: 'DependencyNotReady' }, 'held'],
  ['of an unknown outcome', { action: 'refuse', reason: 'OutcomeUnknown' }, 'held'],
  ['to be adopted', { action: 'adopt', reason: 'Unavailable' }, 'held'],
  ['not looked at yet', { action: 'observe', reason: 'Unobserved' }, 'held'],
]

const ENDPOINTS: typeof PIPES = [
  ['just applied', { action: 'upsert' }, 'apply'],
  ['in sync', {}, 'apply'],
  ['not as asked for, until its interval is over', { action: 'report', reason: 'Stalled' }, 'apply'],
  ['suspended', { action: 'hold', reason: 'Suspended' }, 'held'],
  ['refused', { action: 'refuse', reason: 'SecretUnavailable' }, 'held'],
]

const of = (key: Key, over: Over) => sendingOf(resource(key, over), false)

describe('what becomes of the request of a manifest', () => {
  it.each(PIPES)('a pipe that is %s', (_, over, sending) => expect(of('Pipe/x', over)).toBe(sending))
  it.each(PIPES)('an alert that is created and is %s', (_, over, sending) =>
    expect(of('Alert/x', { ...over, isWritten: true })).toBe(sending),
  )
  it.each(ENDPOINTS)('a query endpoint that is %s', (_, over, sending) =>
    expect(of('QueryEndpoint/x', over)).toBe(sending),
  )
  it.each([
    ['is there', { ...ID }, 'changed'],
    ['being created', { action: 'create', reason: 'Rejected', conditions: UNSYNCED }, 'create-first'],
    ['suspended before it was created', { action: 'hold', reason: 'Suspended' }, 'held'],
  ] as const)('a pipe that can be changed and is %s', (_, over, sending) =>
    expect(sendingOf(resource('Pipe/x', over), true)).toBe(sending),
  )
})
