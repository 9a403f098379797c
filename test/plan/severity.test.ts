import { describe, expect, test } from 'vitest'
import { STATUSES } from '../../src/plan/condition.ts'
import { isAtLeast, severityOf } from '../../src/plan/severity.ts'

describe('severity', () => {
  test('is critical only where nothing but a person ends it', () => {
    const critical = STATUSES.filter((status) => severityOf(status, 'Unavailable') === 'critical')
    expect(critical).toEqual(['OutcomeUnknown', 'Missing'])
    expect(severityOf('Failed', 'LedgerFailed')).toBe('critical')
  })

  test('has an order', () => {
    expect(isAtLeast('critical', 'warning')).toBe(true)
    expect(isAtLeast('warning', 'warning')).toBe(true)
    expect(isAtLeast('info', 'warning')).toBe(false)
  })
})
