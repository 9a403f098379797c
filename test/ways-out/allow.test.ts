import { test } from 'vitest'
import { story } from './story.ts'

/* Too many creations at once, and what a person lets pass. Which ones pass: test/reconcile/create-limit.test.ts. */

const LIMIT = '--max-creates 2'

test('allow lets pass what is held back, once; its number lets pass as many, and no more', () =>
  story(
    'a b c',
    `plan ${LIMIT} => 1 | The create limit refuses 3 of them
    apply ${LIMIT} => 1
    shows Pipe/c Refused
    status => 1 | Creates are paused in service analytics: 3 pending, and the create limit is 2 (--max-creates).
    allow --dry-run | The create limit blocks 3 creations. No action was allowed: | allow --count 3
    allow --service analytics --dry-run | allow --service analytics --count 3
    allow --count 2 => 1 | blocks 3 now
    posts 0
    allow --count 3 -o json | "allowed": [ "Pipe/a", "Pipe/b", "Pipe/c" ], "dryRun": false
    shows Pipe/a Progressing | An operator allowed the create.
    status --status Refused -o name | not: Pipe
    allow | The create limit blocks no resource now.
    apply ${LIMIT}
    history Pipe/a -o json | "action": "allow"
    write e
    write f
    write g
    apply ${LIMIT} => 1
    posts 3
    remove e
    remove f
    remove g
    allow => 1 | blocks 3 resources of the ledger, but`,
  ))
