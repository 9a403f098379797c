import { expect, test } from 'vitest'
import { runHere } from '../support/command.ts'
import { FAILPOINT_VARIABLE, failpointPlan } from '../support/failpoints.ts'
import { runProgram } from '../support/process.ts'

/* Failures that tests put into a process. */

test.each([
  ['a failpoint and an action', 'after-intent=kill', { at: 'after-intent', action: 'kill', nth: 1 }],
  ['the third time', 'before-id=disk-full@3', { at: 'before-id', action: 'disk-full', nth: 3 }],
])('%s', (_, text, plan) => {
  expect(failpointPlan(text)).toEqual(plan)
})

test.each([
  ['a failpoint that there is not', 'after-lunch=kill'],
  ['an action that there is not', 'after-intent=explode'],
  ['no action', 'after-intent'],
  ['no count after the @', 'after-intent=kill@'],
  ['a zeroth time', 'after-intent=kill@0'],
  ['more after the end', 'after-intent=kill,before-id=kill'],
])('%s is refused', async (_, text) => {
  expect(() => failpointPlan(text)).toThrow(text)
})

test('a process with a wrong one does not start', async () => {
  const { code, stderr } = await runProgram(['version'], {
    env: { [FAILPOINT_VARIABLE]: 'after-lunch=kill' },
  })
  expect(code).toBe(1)
  expect(stderr).toContain('PIPEWRIGHT_FAILPOINT is "after-lunch=kill"')
})

test('the program has no such variable', async () => {
  const { code, stderr } = await runHere(['run'], { [FAILPOINT_VARIABLE]: 'after-intent=kill' })
  expect(code).toBe(64)
  expect(stderr).toContain('PIPEWRIGHT_FAILPOINT: there is no such variable')
})
