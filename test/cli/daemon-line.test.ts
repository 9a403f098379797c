import { expect, test } from 'vitest'
import { resource } from '../server/fake-parts.ts'
import { shownResource } from '../../src/server/shown-resource.ts'
import { daemonLine, resourceTable, statusDetails } from '../../src/cli/render/status-text.ts'

const NOW = Date.UTC(2026, 0, 1)
const HOUR = 3_600_000

function plain(_style: unknown, text: string): string {
  return text
}

const LAST = { command: 'run', process: 7, host: 'host', startedAt: NOW - HOUR } as const

test.each([
  ['running', 'The daemon is running (process 7 on host), started 1h ago.'],
  [
    'silent',
    'The daemon does not respond (process 7 on host). The status below is from the ledger and might be old. Read the log of that process, then restart it.',
  ],
  [
    'died',
    'The daemon is not running: it started 1h ago and died (process 7 on host). The status below is from the ledger and might be old. Read the log of that process, then start it again.',
  ],
] as const)('of a daemon that is %s', (state, says) => {
  expect(daemonLine({ state, last: LAST }, { now: NOW, paint: plain })).toBe(says)
})

test.each(['running', 'stopped'] as const)(
  'of a resource whose daemon is %s, the age of its check is told',
  (state) => {
    const view = shownResource(resource('Pipe/orders', { checkedAt: NOW - 70_000 }), {})
    const text = { now: NOW, paint: plain, width: Infinity, form: 'text', here: {}, next: [] } as const
    const shown = statusDetails(view, { daemon: { state, last: LAST }, whole: {} }, text)
    expect(shown.split('\n').map((line) => line.trim())).toContain('last check     1m10s ago')
    const applied = { ...view, checkedAt: undefined, appliedAt: NOW }
    expect(statusDetails(applied, { daemon: { state, last: LAST }, whole: {} }, text)).not.toContain('check')
    expect(resourceTable([applied], text)).toMatch(/Pipe\/orders .* -$/m)
  },
)
