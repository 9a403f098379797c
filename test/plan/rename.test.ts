import { describe, expect, test } from 'vitest'
import { type LedgerRecord, blankRecord } from '../../src/plan/record.ts'
import { type Candidate, findSimilar } from '../../src/plan/rename-detection.ts'
import { appliedEndpoint, created, EDITED, FIELDS, intent, MINUTE, OTHER_ID, recordedPipe } from './inputs.ts'

const SERVICE = { name: 'analytics', organizationId: 'o', serviceId: 's' }
const OTHER_SERVICE = { ...SERVICE, serviceId: 'other' }
const RENAMED_SERVICE = { ...SERVICE, name: 'other' }

const candidate: Candidate = {
  key: 'Pipe/new',
  serviceId: SERVICE.serviceId,
  platformName: 'orders',
  fingerprint: FIELDS,
}

/** A record without a manifest. */
function gone(changes: Partial<LedgerRecord> = {}): LedgerRecord {
  return created({ key: 'Pipe/old', service: SERVICE, platformName: 'orders', ...changes })
}

const renamed = { ...FIELDS, digest: 'body-renamed', fields: { ...FIELDS.fields, name: 'h-other' } }
const longer = { ...EDITED, fields: { ...FIELDS.fields, 'scaling.replicas': 'h-2' } }

/** Each ends with the record that is found, and with its certainty. */
const ROWS: Readonly<Record<string, readonly LedgerRecord[]>> = {
  'nothing is recorded: none': [],
  'the same service and body is the same: Pipe/old same': [gone()],
  'the same body under another name on the platform, by spec.name alone, is the same still: Pipe/old same': [
    gone({ platformName: 'other' }),
  ],
  'the same name and another body is suspected: Pipe/old suspected': [gone({ applied: EDITED })],
  'the same body but for the name is suspected: Pipe/old suspected': [
    gone({ applied: renamed, platformName: 'other' }),
  ],
  'another name and another body is a stranger: none': [gone({ applied: EDITED, platformName: 'other' })],
  'a field more is another body: none': [gone({ applied: longer, platformName: 'other' })],
  'another service is a stranger, whatever the body: none': [gone({ service: OTHER_SERVICE })],
  'a service whose manifest was renamed is the same: Pipe/old same': [gone({ service: RENAMED_SERVICE })],
  'no service is a stranger: none': [gone({ service: undefined })],
  'two that are the same cannot be told apart: Pipe/old suspected': [gone(), gone({ key: 'Pipe/older' })],
  'one that is the same goes before one that is suspected, in any order: Pipe/old same': [
    gone({ key: 'Pipe/a', applied: EDITED }),
    gone(),
  ],
  'the same name goes before the same body under another name: Pipe/b suspected': [
    gone({ key: 'Pipe/a', applied: renamed, platformName: 'other' }),
    gone({ key: 'Pipe/b', applied: EDITED }),
  ],
  'an unknown create counts like a pipe: Pipe/old same': [
    gone({ remote: undefined, intent: intent('unknown') }),
  ],
  'a create that a crash left open counts like a pipe: Pipe/old same': [
    gone({ remote: undefined, intent: intent('open') }),
  ],
  'a create that failed left nothing: none': [gone({ remote: undefined, intent: intent('failed') })],
  'an adopted pipe, whose body nobody wrote down, is suspected by its name: Pipe/old suspected': [
    gone({ applied: undefined }),
  ],
  'a blank record is nothing: none': [blankRecord('Pipe/old')],
  'an endpoint is no pipe: none': [appliedEndpoint(MINUTE)],
}

describe('how a candidate relates to what is recorded', () => {
  test.each(Object.entries(ROWS))('%s', (title, records) => {
    const similarity = findSimilar(candidate, records)
    const found = similarity ? `${similarity.from.key} ${similarity.certainty}` : 'none'
    expect(found).toBe(title.split(': ').at(-1))
  })

  test('does not depend on the id of the pipe', () => {
    const other = recordedPipe(OTHER_ID, { origin: 'adopted' })
    expect(findSimilar(candidate, [gone({ remote: other })])?.certainty).toBe('same')
  })
})
