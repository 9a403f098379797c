import { expect, test } from 'vitest'
import { having, type Client } from './client.ts'
import { DELETE, KAFKA, pipeOf, startOld, unwanted } from './edited-pipes.ts'
import { applied } from './endpoints.ts'
import { byHand, story, want } from './story.ts'

/* Git changes while a reconcile waits for the platform. */

/** At the next reading of the resource, or of the list. */
function reading(of: 'one' | 'all', act: (client: Client) => unknown) {
  return (client: Client) => {
    let isFirst = true
    client.interfere(({ method, below }) => {
      if (isFirst && method === 'GET' && (of === 'one' || below === '…')) {
        isFirst = false
        void act(client)
      }
      return undefined
    })
  }
}

const password = (value: string) => having(KAFKA, { 'source.kafka.credentials.password': value })

test('a password that is rotated during the last look is the one that is sent', () =>
  story(
    startOld(KAFKA),
    want(password('second')),
    reading('one', (client) => {
      client.skip(1_000) // so that it is read again before the request
      reading('one', () => client.want(password('third')))(client)
    }),
    'turn',
    (client) => expect(JSON.stringify(client.changes()).match(/second|third/g)).toEqual(['third']),
  ))

test('a reading of the former service is none of the service that the manifest names since', () =>
  story(
    applied(),
    '30 min',
    reading('one', (client) => client.service('elsewhere')),
    'turn; is Rejected',
    ({ record }) => expect(record()?.service?.serviceId).not.toMatch(/^0{8}/),
  ))

test('a deletion that is withdrawn during the last look at the list', () =>
  story(
    unwanted(),
    'state gone; grace; turn; until gone 14 min; holds a pipe',
    reading('all', (client) => client.want(undefined, { onMissing: 'report' })),
    '2 min; turn; 1 min; turn; sends nothing; holds a pipe; is Missing',
  ))

test('a deletion that had no effect, of a pipe that was changed since, does not block others', () =>
  story(
    unwanted(),
    (client) => client.put('b.json', pipeOf('b', having(KAFKA, { name: 'b', 'source.kafka.topics': 'b' }))),
    'turn Pipe/b; 5 min; turn Pipe/b; grace; on DELETE: 200; turn; calm; 9 min; turn; is Deleting',
    byHand({ name: 'mine' }),
    '2 min; turn; is Drifted',
    (client) =>
      client.put('b.json', pipeOf('b', having(KAFKA, { name: 'b', 'source.kafka.topics': 'b' }), DELETE)),
    'turn Pipe/b',
    ({ shown }) => expect(shown('Pipe/b')?.reason).toBe('Deleting'),
  ))
