import { expect, it } from 'vitest'
import { condition, NOW, resource } from './fake-parts.ts'

it.each([
  ['one that is well is so since it became Ready', condition('True', { since: NOW - 1 }), NOW - 1],
  ['one that drifted since it did', condition('False', { reason: 'Drifted', since: NOW - 5 }), NOW - 5],
])('%s', (_, last, since) => {
  const isWell = last.status === 'True'
  const { Valid, Synced, Ready } = resource('Pipe/a').conditions
  const conditions = isWell ? { Valid, Synced, Ready: last } : { Valid, Synced: last, Ready }
  expect(resource('Pipe/a', { conditions, reason: isWell ? 'InSync' : 'Drifted' }).since).toBe(since)
})
