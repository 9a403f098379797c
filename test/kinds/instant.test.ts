import { expect, test, vi } from 'vitest'
import { instantOf, isRealDateTime } from '../../src/kinds/instant.ts'

const EIGHT = Date.UTC(2026, 0, 31, 8)

test.each([
  ['2026-01-31T08:00:00Z', EIGHT],
  ['2026-01-31T08:00', EIGHT],
  ['2026-01-31 08:00:00', EIGHT],
  ['2026-01-31t08:00:00z', EIGHT],
  [' 2026-01-31T08:00:00.000+00:00 ', EIGHT],
  ['2026-01-31 09:30:00+0130', EIGHT],
  ['2026-01-31 05:00:00-03', EIGHT],
  ['2026-01-31T08:00:00.123456Z', EIGHT + 123],
  ['2026-01-31', Date.UTC(2026, 0, 31)],
  ['2026-13-31T08:00:00', undefined],
  ['31.01.2026', undefined],
  ['now', undefined],
  ['', undefined],
] as const)('the instant of "%s"', (text, instant) => {
  expect(instantOf(text)).toBe(instant)
})

test('a text without a zone is UTC, whatever the zone of the machine', () => {
  vi.stubEnv('TZ', 'Asia/Tokyo')
  try {
    expect(new Date(EIGHT).getHours()).toBe(17)
    expect(instantOf('2026-01-31T08:00:00')).toBe(EIGHT)
  } finally {
    vi.unstubAllEnvs()
  }
})

test.each([
  ['2024-02-29T08:00', true],
  ['2026-02-29T08:00', false],
  ['2026-04-31T08:00:00.5', false],
  ['2026-01-31T24:00:00', false],
] as const)('%s exists: %s', (text, exists) => {
  expect(isRealDateTime(text)).toBe(exists)
})
