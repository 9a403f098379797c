import { expect, test } from 'vitest'
import { runStateOf } from '../../src/contract/activity.ts'
import { resource } from '../server/fake-parts.ts'
import { AS_SAID } from '../../src/server/command-line.ts'
import { daemonLine, statusDetails } from '../../src/cli/render/status-text.ts'

const NOW = Date.UTC(2026, 0, 1)
const HOUR = 3_600_000

function plain(_style: unknown, text: string): string {
  return text
}

test.each([
  {
    why: 'has just said so',
    ageMs: 1_000,
    says: 'The daemon is running (process 7 on host), started 1h ago.',
  },
  {
    why: 'says so when it is due, and takes a moment to write it',
    ageMs: 34_000,
    says: 'The daemon is running (process 7 on host), started 1h ago.',
  },
  {
    why: 'is late, as one that stands still is',
    ageMs: 95_000,
    says: 'The daemon is running (process 7 on host), started 1h ago; its last sign of life was 1m35s ago.',
  },
  {
    why: 'has not said so for two minutes',
    ageMs: 121_000,
    says: 'The daemon does not respond (process 7 on host): its last sign of life was 2m1s ago.',
  },
])('of a daemon that holds the ledger and $why, the age of its last sign is told where it counts', (row) => {
  const last = {
    command: 'run',
    process: 7,
    host: 'host',
    startedAt: NOW - HOUR,
    seenAt: NOW - row.ageMs,
  } as const
  const state = runStateOf(last, true, NOW)
  expect(daemonLine({ state, last }, { now: NOW, paint: plain })).toContain(row.says)
})

test('of a daemon that died, it is told when it last wrote that it lived, and not that it died then', () => {
  const last = {
    command: 'run',
    process: 7,
    host: 'host',
    startedAt: NOW - HOUR,
    seenAt: NOW - 29_000,
  } as const
  const state = runStateOf(last, false, NOW)
  expect(daemonLine({ state, last }, { now: NOW, paint: plain })).toBe(
    'The daemon is not running: it died (process 7 on host). Its last sign of life was written 29s ago; what follows is from then. Look at its log, and start it again.',
  )
})

test.each([
  { state: 'running', seenMs: 25_000, says: 'last check  1m10s ago' },
  { state: 'stopped', seenMs: 25_000, says: 'last check  1m10s ago' },
] as const)('of a daemon that is $state and wrote $seenMs ms ago: $says', ({ state, seenMs, says }) => {
  const view = resource('Pipe/orders', { checkedAt: NOW - 70_000 })
  const last = { command: 'run', startedAt: NOW - HOUR, seenAt: NOW - seenMs } as const
  const text = { now: NOW, paint: plain, width: undefined, form: 'text', here: AS_SAID, next: [] } as const
  const shown = statusDetails(view, { daemon: { state, last }, whole: {} }, text)
  expect(shown.split('\n').map((line) => line.trim())).toContain(says)
})
