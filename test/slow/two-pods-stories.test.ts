import { expect, test } from 'vitest'
import {
  heldByOlder,
  heldTooLate,
  lateUpsert,
  olderCheckout,
  type Released,
  sleeper,
  startsElsewhere,
} from './support/pod-stories.ts'

test.concurrent.each(['before-intent', 'after-intent', 'after-fence', 'after-connect'])(
  'a process that stands still at %s, while another one takes over and a person forces a second attempt, sends nothing when it wakes up',
  async (failpoint) => {
    expect(await sleeper(failpoint)).toEqual([])
  },
)

test.concurrent(
  'access that was taken away does not come back by a late request of the process before',
  async () => {
    expect(await lateUpsert()).toEqual([])
  },
)

test.concurrent(
  'a process whose checkout is two commits behind creates nothing that was renamed, and gives no access back',
  async () => {
    expect(await olderCheckout()).toEqual([])
  },
)

test.concurrent(
  'a process that starts with another checkout than was acted on says so on the page and as a warning, and begins no create; one with the same says nothing',
  async () => {
    expect(await startsElsewhere()).toEqual([
      {
        shown: true,
        lines: [
          ['info', false],
          ['warn', true],
        ],
      },
      { shown: false, lines: [['info', false]] },
      { creates: 1, begun: 0 },
    ])
  },
)

test.concurrent.each<Released>([
  'another one stood by',
  'another one is started',
  'a person accepts the manifests',
])('what waited for another checkout is made at once where %s', async (released) => {
  expect(await heldByOlder(released)).toEqual([])
})

test.concurrent(
  'what waited for another checkout is made at once also where that is recorded after the wait is over',
  async () => {
    expect(await heldTooLate()).toEqual([])
  },
)
