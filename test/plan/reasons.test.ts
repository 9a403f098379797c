import { masked } from '../support/masked.ts'
import { describe, expect, test } from 'vitest'
import { HistoryEntry } from '../../src/contract/history.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { Condition } from '../../src/plan/condition.ts'
import { isWell, STATUSES, wellnessOf } from '../../src/plan/severity.ts'
import { statusOf } from '../../src/plan/conditions.ts'
import {
  causeOf,
  messageOf,
  parseFacts,
  parseReason,
  REASONS,
  stepsOf,
  type Reason,
} from '../../src/plan/reason.ts'
import { alertRules, type AlertRule } from '../support/alert-rules.ts'
import { proseOf } from '../../src/plan/step.ts'
import { because } from './inputs.ts'

/* Each row has all that a reason needs, by its type; here is what types cannot say. */

const ALL = Object.keys(REASONS) as readonly Reason[] // the keys of an object literal
const RULES: ReadonlyMap<string, AlertRule> = new Map(alertRules().map((rule) => [rule.alert, rule]))
const ABOUT = {
  key: 'Pipe/orders' as Key,
  place: 'orders.yaml:3',
  service: 'analytics',
  pipeId: 'p-1',
  id: 'p-1',
  differences: [],
}

describe('each reason', () => {
  test('means something, in a few words', () => {
    expect(ALL.filter((reason) => !/^[a-z][^.]*[^.]$/.test(REASONS[reason].means))).toEqual([])
  })

  test('has words for its facts: sentences, whose cause stands alone', () => {
    for (const reason of ALL) {
      const cause = causeOf(because(reason), ABOUT.key)
      const message = messageOf(because(reason), ABOUT)
      const steps = proseOf(stepsOf(because(reason), ABOUT))
      expect.soft(message, reason).toBe(steps === '' ? cause : `${cause} ${steps}`)
      expect.soft(cause, reason).toMatch(/^\S.*\.$/)
      expect.soft(cause, reason).not.toContain('undefined')
    }
  })

  test('is read again from a ledger with the facts that were written', () => {
    for (const reason of ALL) {
      const { facts } = because(reason)
      const written: unknown = JSON.parse(JSON.stringify({ facts }))
      expect.soft(written, reason).toEqual({ facts: parseFacts(reason, facts) })
      expect.soft(parseFacts(reason, { other: 'facts' }), reason).toBeUndefined()
    }
  })

  test('has a remedy without facts too, as an earlier version recorded it', () => {
    for (const reason of ALL) {
      const steps = stepsOf({ reason, facts: because(reason).facts }, ABOUT).length
      expect.soft(stepsOf({ reason, facts: undefined }, ABOUT).length, reason).toBeLessThanOrEqual(steps)
      // What is not well says what to do.
      expect.soft(isWell(REASONS[reason]) || steps > 0, reason).toBe(true)
    }
  })

  test('gives the status of its row to whatever is not in sync because of it', () => {
    const valid: Condition = { status: 'True', reason: 'Valid', since: 0 }
    for (const reason of ALL) {
      const condition: Condition = { ...valid, status: 'False', reason }
      const status = statusOf({ Valid: valid, Synced: condition, Ready: condition })
      const own = REASONS[reason].status
      expect.soft(status, reason).toBe(own === 'Ready' ? 'Progressing' : own)
    }
  })
})

const { toneOf } = (await import(new URL('../../src/server/page/markup.js', import.meta.url).href)) as {
  readonly toneOf: (status: string) => string
} // as it stands there

/** Alerts that count what is not well by a metric of its own. */
const BY_ANOTHER_METRIC: readonly string[] = ['PipewrightOutcomeUnsaved', 'PipewrightFindings']

/** The reasons that an alert wakes somebody for, as its expression has them: by name, or by the status that they give. */
function wokenFor({ expr }: AlertRule): readonly Reason[] {
  const asked = (label: string) =>
    [...expr.matchAll(new RegExp(`[{,]${label}=~?"([^"]+)"`, 'g'))].flatMap(([, value = '']) =>
      value.split('|'),
    )
  const [names, statuses] = [asked('reason'), asked('status')]
  return ALL.filter((reason) =>
    statuses.length > 0 ? statuses.includes(REASONS[reason].status) : names.includes(reason),
  )
}

describe('alerts', () => {
  const unwell = ALL.filter((reason) => !isWell(REASONS[reason]))
  const byAlert: ReadonlyMap<string, readonly Reason[]> = Map.groupBy(
    unwell,
    (reason) => REASONS[reason].alert ?? '',
  )

  test.each([...byAlert])('%s is there, and for these reasons: %s', (alert, reasons) => {
    const rule = RULES.get(alert)
    if (rule === undefined) throw new Error(`no rule has the name ${alert}`)
    const isByReason = !BY_ANOTHER_METRIC.includes(alert)
    expect(wokenFor(rule).toSorted()).toEqual(isByReason ? reasons.toSorted() : [])
    const severity = reasons.map((one) => REASONS[one].severity)
    expect(new Set(severity)).toEqual(new Set([rule.labels.severity]))
  })

  test('name no reason that does not name them', () => {
    for (const rule of RULES.values())
      for (const reason of wokenFor(rule)) expect(byAlert.get(rule.alert)).toContain(reason)
  })
})

test('each status has the colour on the page of what is, or is not, well', () => {
  for (const status of STATUSES) {
    const isCalm = ['good', 'calm'].includes(toneOf(status))
    expect.soft(isCalm, status).toBe(wellnessOf(status) !== 'bad')
  }
})

test('a name of before is read as the one of now', () => {
  expect(parseReason('CreateBrake')).toBe('CreateLimit')
  expect(parseReason('CreateLimit')).toBe('CreateLimit')
  expect(parseReason('toString')).toBeUndefined()
})

describe('a state that cannot be seen stands in quotes', () => {
  test.each([
    [
      'Healthy',
      { state: masked(''), by: 'policy.healthyStates' },
      'Its state is "", as policy.healthyStates asks.',
    ],
    ['NotJudged', { state: masked(' '), isInSync: false }, 'No rule says whether state " " is healthy.'],
    [
      'Changing',
      { why: 'platform', fields: [], by: [], is: 'moving', state: masked('Pending\n') },
      String.raw`Its state is "Pending\n". Pipewright reads the pipe until the state changes.`,
    ],
    ['UnhealthyState', { state: masked('Failed ') }, 'Its state is "Failed ", which sounds unhealthy.'],
    [
      'UnhealthyState',
      { state: masked(''), healthy: ['Running', ' '], by: '--healthy-states' },
      'Its state is "". --healthy-states allows Running, " ".',
    ],
  ] as const)('%s of %j', (reason, facts, says) => {
    expect(causeOf({ reason, facts }, 'Pipe/orders')).toBe(says)
  })
})

test('an endpoint without a manifest may be that of another one: it is not to be removed unseen', () => {
  const facts = { key: 'QueryEndpoint/old', file: 'old.yaml', isNothing: false } as const
  expect(messageOf({ reason: 'Orphaned', facts }, { key: facts.key })).toContain(
    'unless another manifest describes it',
  )
  const pipe = { ...facts, key: 'Pipe/old', pipeId: 'p-1' } as const
  expect(messageOf({ reason: 'Orphaned', facts: pipe }, { key: pipe.key })).not.toContain('another manifest')
  const held = messageOf({ reason: 'Orphaned', facts: { ...pipe, holder: 'Pipe/new' } }, { key: pipe.key })
  expect(held).toContain('pipe p-1 belongs to Pipe/new. To remove its record: "pipewright forget Pipe/old"')
})

test.each([
  [undefined, ''],
  [[], ''],
  [['SELECT'], ' It gives SELECT.'],
])('a request without outcome that gives %j', (gives, more) => {
  const access = { takesAway: [], gives }
  const facts = { why: 'unknown', fields: [], by: [], is: 'to be applied', access } as const
  expect(causeOf({ reason: 'Changing', facts }, 'Pipe/orders')).toMatch(
    new RegExp(`Will be applied again\\.${more}$`),
  )
})

test('a history entry with a reason of another version tells its message, or its reason', () => {
  const entry = {
    type: 'action',
    action: 'create',
    result: 'done',
    key: 'Pipe/a',
    at: 0,
    revision: 'r',
    reason: 'Newer',
  }
  expect(HistoryEntry.parse(entry).message).toBe('Newer.')
  expect(HistoryEntry.parse({ ...entry, message: 'It was told.' }).message).toBe('It was told.')
})
