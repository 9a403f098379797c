import { expect, test } from 'vitest'
import { runStateOf } from '../../src/contract/activity.ts'
import { daemonLine } from '../../src/cli/render/status-text.ts'

const NOW = Date.UTC(2026, 0, 1)
const HOUR = 3_600_000

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
  expect(daemonLine({ state, last }, { now: NOW, paint: (_style, text) => text })).toContain(row.says)
})
