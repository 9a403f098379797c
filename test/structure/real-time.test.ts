import { expect, test } from 'vitest'
import { EXCEPTIONS, realFiles } from './real-time.ts'

test('npm test has real programs and real time only in files with a reason', () => {
  expect(realFiles()).toEqual(Object.keys(EXCEPTIONS))
})
