import type { Action } from './action.ts'
import { contestOf, reportContest } from './corrections.ts'
import { backingOff, claimedFirst, findBlocker, unfound } from './gates.ts'
import { differencesIn, type CreateOnceInput } from './input.ts'
import { isFailed, runStateStep, unheeded } from './run-state.ts'

export function decideStartStop(input: CreateOnceInput): Action | undefined {
  const rest = runStateStep(input)
  if (rest === undefined) return undefined
  const { command, why, fate } = rest
  // Does not check the Service manifest, because a read of the pipe just worked.
  const stop = findBlocker(input, [unfound, ...(why === 'started again' ? [] : [claimedFirst]), backingOff])
  if (stop !== undefined) return stop
  const by = [input.kind.operations.state?.name ?? '']
  const facts = { why, fields: [], by }
  if (fate === 'waited for')
    return { type: 'observe', reason: 'Changing', facts: { ...facts, is: 'not seen yet' } }
  if (fate === 'unheeded') return stalled(input)
  const contest = isFailed(input) ? undefined : contestOf(input, rest.corrects)
  if (contest !== undefined || fate === 'given up') {
    const times = input.recorded.corrections?.[command]?.count ?? 0
    return reportContest(differencesIn(input.observed), contest ?? { fields: [command], times })
  }
  return {
    type: 'update',
    reason: 'Changing',
    steps: [{ way: 'state', body: { command } }],
    isWhole: false,
    stopFor: command === 'stop' ? 'rest' : undefined,
    corrects: rest.corrects,
    facts: { ...facts, is: 'to be sent' },
  }
}

export function stalled(input: CreateOnceInput): Action | undefined {
  const because = unheeded(input)
  return because && { type: 'report', ...because, differences: differencesIn(input.observed) }
}
