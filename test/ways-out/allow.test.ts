import { describe, expect, test } from 'vitest'
import { OTHER_SERVICE_ID, serviceManifest } from '../support/manifests.ts'
import { story } from './story.ts'

/* Too many creations at once, and what a person lets pass. Which ones pass: test/reconcile/create-limit.test.ts. */

const LIMIT = '--max-creates 2'

describe('allow', () => {
  test('lets pass what is held back, once; its number lets pass as many, and no more', () =>
    story(
      'a b c',
      `apply ${LIMIT} => 1
      shows Pipe/c Refused
      allow --dry-run | The create limit blocks 3 creations. No action was allowed: | allow --count 3
      write d
      apply ${LIMIT} => 1
      allow --count 3 => 1 | blocks 4 now
      posts 0
      allow --count 4 -o json | "allowed": [ "Pipe/a", "Pipe/b", "Pipe/c", "Pipe/d" ], "dryRun": false
      tells Pipe/a | An operator allowed the create.
      status --status Refused -o name | not: Pipe
      allow --dry-run | The create limit blocks no resource now.
      apply ${LIMIT}
      history Pipe/a -o json | "action": "allow"
      write e
      write f
      write g
      apply ${LIMIT} => 1
      shows Pipe/e Refused
      posts 4`,
    ))

  test('where nothing is held back says so, and where another directory is', () =>
    story(
      'orders',
      `apply
      allow | The create limit blocks no resource now.
      write a
      write b
      write c
      apply ${LIMIT} => 1
      remove a
      remove b
      remove c
      allow => 1 | blocks 3 resources of the ledger, but`,
    ))

  test('of one service lets no other pass, and each text names the service', () =>
    story(
      'many-0 many-1 many-2',
      ({ workspace }) => {
        const other = { name: 'other', serviceId: OTHER_SERVICE_ID, secret: 'analytics-api' }
        workspace.write('manifests/other.yaml', serviceManifest(other))
      },
      `write one service=other
      plan ${LIMIT} => 1 | The create limit refuses 3 of them
      apply ${LIMIT} => 1`,
      ({ platform }) => expect(platform.pipes().map(({ name }) => name)).toEqual(['one']),
      `status => 1
      | Creates are paused in service analytics: 3 pending, and the create limit is 2 (--max-creates).
      allow --service other | The create limit blocks no resource now in service other.
      allow --service analytics
      apply ${LIMIT}
      pipes 4`,
    ))
})
