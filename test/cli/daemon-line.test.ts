import { expect, test } from 'vitest'
import { resource } from '../server/fake-parts.ts'
import { AS_SAID } from '../../src/server/command-line.ts'
import { daemonLine, statusDetails } from '../../src/cli/render/status-text.ts'

const NOW = Date.UTC(2026, 0, 1)
const HOUR = 3_600_000

function plain(_style: unknown, text: string): string {
  return text
}

const LAST = {
  command: 'run',
  process: 7,
  host: 'host',
  startedAt: NOW - HOUR,
  seenAt: NOW - 29_000,
} as const

test.each([
  ['running', 'The daemon is running (process 7 on host), started 1h ago.'],
  [
    'silent',
    'The daemon does not respond (process 7 on host). What follows is from the ledger. Look at its log, and restart it.',
  ],
  [
    'died',
    'The daemon is not running: it started 1h ago and died (process 7 on host). What follows is from the ledger. Look at its log, and start it again.',
  ],
] as const)('of a daemon that is %s', (state, says) => {
  expect(daemonLine({ state, last: LAST }, { now: NOW, paint: plain })).toBe(says)
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
