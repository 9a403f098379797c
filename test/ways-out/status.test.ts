import { rmSync } from 'node:fs'
import { test } from 'vitest'
import { story } from './story.ts'

/* What `status` says, and how it ends. */

test('a filter that matches nothing is named, and a key that is not recorded is not mistaken for another', () =>
  story(
    'orders',
    `status --label team=x => 1 | there is no ledger
    apply
    status --kind pipe --label team=x --reason Drifted | not: RESOURCE
    | No resource matches --kind Pipe --label team=x --reason Drifted.
    status --label team=x -o name | not: Pipe
    history --label team=x | No entry of the history matches --label team=x.
    status --reason NotJudged -o name | Pipe/orders | not: Service
    status -o name --kind Pipe --status ready | Pipe/orders | not: Service
    write neworders
    write orders replicas=-1
    write wrong replicas=-1
    status pipe/neworders => 1 | Pipe/neworders was not reconciled yet. Its manifest: {dir}/manifests/neworders.yaml:1.
    status Pipe/wrong => 1 | wrong.yaml:1. It has errors: see "pipewright validate".
    status Pipe/order => 1 | Did you mean Pipe/orders?
    history Pipe/order => 1 | Pipe/order. Did you mean Pipe/orders?
    status Pipe/nothing-like-it => 1 | "pipewright status" lists all keys. | not: Ready
    history Pipe/nothing-like-it => 1 | "pipewright status" lists all keys.
    apply => 1
    status => 1 | must be at least 0 | not: In sync.`,
  ))

test('no step asks for what was just asked, and without a directory not all is well', () =>
  story(
    'orders',
    `apply
    apply --base-url http://127.0.0.1:1 => 1
    status Pipe/orders => 1 | If the problem lasts, check that this host reaches | not: status Pipe/orders
    status Service/analytics => 1 | The last request with the credentials of this service failed: no connection to | not: the pipe
    apply`,
    ({ workspace }) => rmSync(workspace.manifests, { recursive: true }),
    'apply => 1 | As recorded, none of 2 needed attention. | The manifests directory is missing',
  ))

test.each(['apply', 'apply --wait --timeout 3s'])(
  'a pipe that is not found is no success of %s, although one reading proves nothing',
  (again) => story('orders', `apply\nvanish orders\n${again} => 1 | but that read might be wrong\nposts 1`),
)
