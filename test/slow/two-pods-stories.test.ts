import { expect, test } from 'vitest'
import { lateUpsert, olderCheckout, sleeper } from './support/pod-stories.ts'

test.each(['before-intent', 'after-intent', 'after-fence', 'after-connect'])(
  'a process that stands still at %s, while another one takes over and a person forces a second attempt, sends nothing when it wakes up',
  async (failpoint) => {
    expect(await sleeper(failpoint)).toEqual([])
  },
)

test('access that was taken away does not come back by a late request of the process before', async () => {
  expect(await lateUpsert()).toEqual([])
})

test('a process whose checkout is two commits behind creates nothing that was renamed, and gives no access back', async () => {
  expect(await olderCheckout()).toEqual([])
})
