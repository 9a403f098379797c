import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { endOfPlan, type Plan, type PlanItem, VERDICTS } from '../../src/contract/plan.ts'
import { saying } from '../support/messages.ts'
import { planAsMarkdown } from '../../src/cli/render/plan-markdown.ts'
import { planAsText, bodyDiff } from '../../src/cli/render/plan-text.ts'

const ITEM: PlanItem = {
  key: 'Pipe/orders',
  action: 'observe',
  reason: 'InSync',
  verdict: 'unchanged',
  because: { reason: 'InSync', facts: { as: 'create-once' } },
  after: [],
  waitsFor: [],
  renamedFrom: undefined,
  service: { name: 'analytics', organizationId: 'org', serviceId: 'svc' },
  outline: { source: 'kafka', table: 'default.orders' },
  platformName: 'orders',
  remoteId: undefined,
  before: undefined,
  desired: undefined,
  differences: [],
  gives: [],
  takesAway: [],
  uncheckedSecrets: [],
  file: 'orders.yaml',
  line: 1,
}

const CREATE = { action: 'create', reason: 'New', verdict: 'change', desired: { name: 'orders' } } as const

function planWith(items: readonly Partial<PlanItem>[], over: Partial<Plan> = {}): Plan {
  const whole = items.map((item) => ({ ...ITEM, ...item }))
  const counts = Object.fromEntries(
    VERDICTS.map((each) => [each, whole.filter(({ verdict }) => verdict === each).length]),
  ) as Plan['counts'] // one for each verdict
  const createLimit = { wanted: 0, limit: 25, refused: 0 }
  return {
    revision: 'abc',
    manifests: 'manifests',
    problem: undefined,
    createLimit,
    missingLedger: undefined,
    checkedBefore: { items: 0, oldestMs: 0 },
    counts,
    items: whole,
    findings: [],
    ...over,
  }
}

/** Forty refusals for one cause. */
const LIMIT = {
  verdict: 'refused',
  action: 'refuse',
  reason: 'CreateLimit',
  because: saying('Too many.'),
} as const
const LIMITED = Array.from({ length: 40 }, (_, number) => ({ ...LIMIT, key: `Pipe/p${number}` }) as const)

const plain = { paint: (_style: unknown, text: string) => text, width: 80 }

function shownText(...plan: Parameters<typeof planWith>): string {
  return planAsText(planWith(...plan), plain, {})
}

describe('how a plan ends', () => {
  const differs = [{ field: 'a', desired: '1', observed: '2' }]
  test.each<[string, readonly Partial<PlanItem>[], string]>([
    ['nothing to do', [{}], 'nothing'],
    [
      'what drifted is not the fault of a change',
      [{ verdict: 'attention', action: 'report', reason: 'Drifted' }],
      'nothing',
    ],
    ['on hold', [{ verdict: 'held', action: 'hold', reason: 'Suspended' }], 'nothing'],
    ['a change', [{}, CREATE], 'changes'],
    ['a change, and one that waits for it', [CREATE, { verdict: 'waits' }], 'changes'],
    [
      'a refusal beside a change',
      [CREATE, { verdict: 'refused', action: 'refuse', reason: 'Ambiguous' }],
      'refused',
    ],
    ['what could not be found out', [{ verdict: 'failed', reason: 'Unavailable' }], 'refused'],
    ['taking over what is as it should be', [{ verdict: 'change', action: 'adopt' }], 'changes'],
    ['taking over what differs', [{ verdict: 'change', action: 'adopt', differences: differs }], 'refused'],
  ])('%s', (_, items, end) => {
    expect(endOfPlan(planWith(items))).toBe(end)
  })

  test('a finding that is an error, and a directory that does not count', () => {
    expect(endOfPlan(planWith([], { problem: 'it is empty' }))).toBe('refused')
  })
})

function bodyWith(replicas: number): JsonObject {
  return { a: 1, b: 2, c: 3, source: { kafka: { x: 1, y: 2, z: 3, replicas } }, last: 1 }
}

function written(lines: ReturnType<typeof bodyDiff>): readonly string[] {
  return lines.map(({ sign, text: line }) => `${sign} ${line}`)
}

describe('a diff', () => {
  test('shows what changes, what it stands in, and two lines around', () => {
    expect(written(bodyDiff(bodyWith(1), bodyWith(2)))).toEqual([
      '… 3 unchanged lines',
      '  source:',
      '    kafka:',
      '… 1 unchanged line',
      '      y: 2',
      '      z: 3',
      '-     replicas: 1',
      '+     replicas: 2',
      '  last: 1',
    ])
  })

  test('of something new is all of it, and of equal ones nothing but their number', () => {
    expect(written(bodyDiff(undefined, { a: 1, b: [1] }))).toEqual(['+ a: 1', '+ b:', '+   - 1'])
    expect(written(bodyDiff({ a: 1 }, { a: 1 }))).toEqual(['… 1 unchanged line'])
  })
})

describe('as text', () => {
  test('counts what is there in words, and nothing that is not', () => {
    const drifted = { action: 'report', reason: 'Drifted', verdict: 'attention' } as const
    expect(shownText([drifted, {}, {}])).toContain('No changes: 1 drifted, 2 unchanged. Revision abc.')
    expect(shownText([{ ...CREATE, after: ['Alert/x'] }])).toContain('create New, after Alert/x')
  })

  test('says of drift that it is only reported, and of a first run without creates no more', () => {
    const differences = [{ field: 'a', desired: '1', observed: '2' }]
    const drifted = { action: 'report', reason: 'Drifted', before: { a: 2 }, desired: { a: 1 } } as const
    const shown = shownText([{ ...drifted, verdict: 'attention', differences }])
    expect(shown).toContain('\n    reported, not changed:\n    - a: 2\n    + a: 1\n')
    const missingLedger = { file: 'ledger.db', init: 'auto' } as const
    expect(shownText([], { missingLedger })).toMatch(/^There is no ledger at ledger\.db\. .* first run\.\n/)
  })

  test('says one cause once, with all that it keeps from being done', () => {
    const shown = shownText([...LIMITED, { ...LIMIT, key: 'Pipe/other', because: saying('Another.') }])
    expect(shown.split('Too many.')).toHaveLength(2)
    expect(shown).toContain('✗ 40 resources  refuse CreateLimit')
    expect(shown).toContain('Pipe/p29 and 10 more')
    expect(shown).toContain('✗ Pipe/other  refuse CreateLimit')
  })

  test('says which access is given and taken away', () => {
    const access = { gives: ['role a'], takesAway: ['key 1', 'role b'] }
    const shown = shownText([{ verdict: 'change', action: 'delete', reason: 'Deleting', ...access }])
    expect(shown).toContain('- Pipe/orders  delete Deleting')
    expect(shown).toMatch(/gives access: role a\n +takes away: key 1, role b\n/)
  })

  test('fits a narrow terminal, whatever stands in a body', () => {
    const long = {
      url: 'x'.repeat(300),
      words: 'word '.repeat(60).trim(),
      deep: { deeper: { deepest: 'y'.repeat(100) } },
    }
    const shown = shownText([{ ...CREATE, because: saying('word '.repeat(50)), desired: long }])
    for (const line of shown.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    expect(shown.replaceAll(/\n *\+ +/g, '')).toContain('x'.repeat(300))
  })

  test('obeys no control character of a body', () => {
    const shown = shownText([{ ...CREATE, desired: { name: 'a\u001b[2Jb' } }])
    expect(shown).not.toContain('\u001b')
  })
})

describe('as a comment', () => {
  const many = Array.from({ length: 2_000 }, (_, number): Partial<PlanItem> => ({
    ...CREATE,
    key: `Pipe/p${number}`,
    desired: { name: `p${number}`, text: 'z'.repeat(500) },
  }))
  const refused: Partial<PlanItem> = {
    key: 'Pipe/zz',
    verdict: 'refused',
    action: 'refuse',
    reason: 'Ambiguous',
  }

  test('is no longer than GitHub takes, begins with what matters most, and says what is left out', () => {
    const comment = planAsMarkdown(planWith([...many, refused]))
    expect(comment.length).toBeLessThanOrEqual(65_536)
    expect(comment).toContain('2000 to create')
    expect(comment.indexOf('`Pipe/zz`')).toBeLessThan(comment.indexOf('`Pipe/p0`'))
    expect(comment).toMatch(/_\d+ more rows left out/)
    expect(comment).toMatch(/_\d+ more bodies left out/)
  })

  test('shows small bodies beside one that is too large', () => {
    const large = { ...CREATE, key: 'Pipe/a', desired: { text: 'z'.repeat(70_000) } } as const
    const comment = planAsMarkdown(planWith([large, { ...CREATE, key: 'Pipe/b' }]))
    expect(comment).toContain('<details><summary>Pipe/b: create New</summary>')
    expect(comment).toContain('_1 more body left out')
  })

  test('has the whole of a long message below the table, where the row has its beginning', () => {
    const message = `${'word '.repeat(100)}the end`
    const comment = planAsMarkdown(planWith([{ ...refused, because: saying(message) }]))
    expect(comment.split('the end')).toHaveLength(2)
    expect(comment).toContain('…')
  })

  test('has one row for one cause, and names what it holds back', () => {
    const comment = planAsMarkdown(planWith(LIMITED))
    expect(comment.split('Too many.')).toHaveLength(2)
    expect(comment).toContain('| 40 resources |')
    expect(comment).toContain('Pipe/p29 and 10 more')
  })

  test('makes no mention, link, picture or cell of what others wrote', () => {
    const message = String.raw`@octocat ![i](http://x.example/p.png) [l](javascript:1) #12 a \| b *c* \`d\` snake_case https://evil.example/x www.evil.example`
    const comment = planAsMarkdown(
      planWith([{ ...refused, because: saying(message), file: 'we`ird|@octo.yaml' }]),
    )
    const row = comment.split('\n').find((line) => line.includes('Pipe/zz')) ?? ''
    expect(row.split('|')).toHaveLength(6)
    for (const live of ['@octo', '](', ' #12', '*c*', '`d`', '://', 'www.']) expect(row).not.toContain(live)
    expect(row).toContain('snake_case')
  })

  test('has a body folded, and lets nothing out of its fence or its cell', () => {
    const hostile = { name: '```\n</details><script>', list: ['``````'] }
    const comment = planAsMarkdown(
      planWith([{ ...CREATE, because: saying('a | b <b> & c\nd.'), desired: hostile }]),
    )
    expect(comment).toContain('<details><summary>Pipe/orders: create New</summary>')
    expect(comment).toContain('| a &#124; b &#60;b&#62; &#38; c d. Correct the manifest: ')
    const [, fence = ''] = /^(`+)diff$/m.exec(comment) ?? []
    expect(fence.length).toBeGreaterThan(6)
    expect(comment.split('\n').filter((line) => line === fence)).toHaveLength(1)
  })
})
