import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { measureRepository } from './measure.ts'
import { budgetTable, overBudget } from './budget.ts'

const LIMITS = JSON.parse(readFileSync(new URL('budget.json', import.meta.url), 'utf8')) as Record<
  string,
  number
>

test('the repository stays within its budget', () => {
  const measured = measureRepository()
  expect(overBudget(measured, LIMITS), budgetTable(measured, LIMITS)).toEqual([])
})

test('a row above its limit, without a limit, or gone is named', () => {
  const limits = { 'src: lines': 10, 'src/old: lines': 1 }
  expect(overBudget({ 'src: lines': 10 }, limits)).toEqual([
    'src/old: lines: no longer measured, delete its limit',
  ])
  expect(overBudget({ 'src: lines': 11, 'src/old: lines': 0, 'src/new: lines': 5 }, limits)).toEqual([
    'src: lines: 11, limit 10',
    'src/new: lines: 5, no limit',
  ])
})
