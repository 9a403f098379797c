import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { standingOf } from '../../src/cli/compose-server.ts'
import type { Leadership } from '../../src/contract/leadership.ts'

const STANDS_BY = { term: undefined, failing: undefined, olderThan: undefined }
const ID = 'f2c1b0de-4a5b-4c6d-8e7f-0123456789ab'

function leaderShown(host: string, url: string | undefined) {
  const leadership = { leader: () => ({ holder: `${host}_${ID}`, epoch: 3, url }) }
  return standingOf(STANDS_BY, leadership as unknown as Leadership).leader // nothing else of it is asked for
}

// Each pod listens on all of its addresses, and says 127.0.0.1 of that.
test.each([
  'http://127.0.0.1:8080',
  'http://127.8.8.8:8080',
  'http://localhost:8080',
  'http://[::1]:8080',
  'http://[::ffff:127.0.0.1]:8080',
  'http://0.0.0.0:8080',
  'http://[::]:8080',
])('%s leads to the process that acts on its own machine only', (url) => {
  expect(leaderShown('pipewright-7d9c6f5b8-x2k4q', url)).toEqual({ holder: 'pipewright-7d9c6f5b8-x2k4q' })
  expect(leaderShown(hostname(), url)).toEqual({ holder: hostname(), url })
})

test('any other address of it leads there from everywhere', () => {
  const url = 'http://pods.example:8080'
  expect(leaderShown('pipewright-7d9c6f5b8-x2k4q', url)).toMatchObject({ url })
})
