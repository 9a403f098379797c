import { describe, expect, test } from 'vitest'
import { failpointPlan } from '../../src/cli/failpoints.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { FAILPOINT_VARIABLE } from '../../src/contract/failpoint.ts'
import { runHere } from '../support/command.ts'

describe('PIPEWRIGHT_FAILPOINT', () => {
  test.each([
    ['a failpoint and an action', 'after-intent=kill', { at: 'after-intent', action: 'kill', nth: 1 }],
    ['the third time', 'before-id=disk-full@3', { at: 'before-id', action: 'disk-full', nth: 3 }],
    ['nothing at all', '', undefined],
  ])('%s', (_, text, plan) => {
    expect(failpointPlan({ [FAILPOINT_VARIABLE]: text })).toEqual(plan)
  })

  test.each([
    ['a failpoint that there is not', 'after-lunch=kill'],
    ['an action that there is not', 'after-intent=explode'],
    ['no action', 'after-intent'],
    ['no count after the @', 'after-intent=kill@'],
    ['a zeroth time', 'after-intent=kill@0'],
    ['more after the end', 'after-intent=kill,before-id=kill'],
  ])('%s is a problem', (_, text) => {
    expect(failpointPlan({ [FAILPOINT_VARIABLE]: text })).toMatchObject({
      problem: { from: FAILPOINT_VARIABLE, given: text },
    })
  })

  test('is in no list of settings', () => {
    expect(SETTINGS.map(({ env }) => env)).not.toContain(FAILPOINT_VARIABLE)
  })

  test('the program refuses one that it does not understand, and tells the other faults too', async () => {
    const env = { PIPEWRIGHT_FAILPOINT: 'after-intent=explode', PIPEWRIGHT_CONCURRENCY: 'many' }
    const { code, stderr } = await runHere(['run'], env)
    expect(code).toBe(64)
    expect(stderr).toContain('3 problems:')
    expect(stderr).toContain('PIPEWRIGHT_FAILPOINT "after-intent=explode"')
  })

  test('the program takes one that it does, and says so in one line of warning', async () => {
    const { code, stderr } = await runHere(
      ['apply', '--base-url', 'http://127.0.0.1:9', '--ledger', 'memory:', '--manifests', '/nowhere'],
      { PIPEWRIGHT_FAILPOINT: 'after-intent=kill' },
    )
    expect(code).toBe(1)
    const lines = stderr.split('\n').filter((line) => line.includes('Failpoint set'))
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 'warn', failpoint: 'after-intent=kill@1' },
    ])
  })
})
