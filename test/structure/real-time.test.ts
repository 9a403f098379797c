import { expect, test } from 'vitest'
import { EXCEPTIONS, realFiles, SLOW_EXCEPTIONS, slowFilesWithTime } from './real-time.ts'

test('npm test has real programs and real time only in files with a reason', () => {
  expect(realFiles()).toEqual(Object.keys(EXCEPTIONS))
})

test('slow tests read a clock or let time pass only in files with a reason', () => {
  expect(slowFilesWithTime()).toEqual(Object.keys(SLOW_EXCEPTIONS))
})
