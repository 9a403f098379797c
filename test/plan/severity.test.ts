import { describe, expect, test } from 'vitest'
import { isWell } from '../../src/plan/severity.ts'
import { REASONS } from '../../src/plan/reason.ts'

describe('severity', () => {
  test('is critical only where nothing but a person ends it', () => {
    const critical = Object.entries(REASONS).filter(([, { severity }]) => severity === 'critical')
    expect(critical.map(([reason]) => reason)).toEqual([
      'OutcomeUnknown',
      'OutcomeUnsaved',
      'Missing',
      'MassMissing',
      'NeverSeen',
      'LedgerFailed',
    ])
  })

  test('is info for what is well, and for nothing else', () => {
    for (const row of Object.values(REASONS)) expect(row.severity === 'info').toBe(isWell(row))
  })
})
