import { expect, test } from 'vitest'
import { decide } from '../../src/plan/decide.ts'
import { blankRecord } from '../../src/plan/record.ts'
import { created, FOUND, intent, pipe, recordedPipe } from '../plan/inputs.ts'

/** With letters, as those of the other tests have none. */
const ID = 'abcdef00-aaaa-4bbb-8ccc-abcdef012345'

test.each([
  [
    'an adopt that is done stays without effect',
    pipe({
      recorded: created({ remote: recordedPipe(ID) }),
      observed: FOUND,
      policy: { adopt: ID.toUpperCase() },
    }),
    'InSync',
  ],
  [
    'an approval is of the attempt that it names',
    pipe({
      recorded: { ...blankRecord('Pipe/orders'), version: 1, intent: { ...intent('unknown'), id: ID } },
      policy: { retryCreate: ID.toUpperCase() },
    }),
    'New',
  ],
])('an id in capitals is the same id: %s', (_, input, reason) => {
  expect(decide(input).reason).toBe(reason)
})
