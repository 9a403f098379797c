import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { blankRecord } from '../../src/plan/record.ts'
import { intent } from '../plan/inputs.ts'
import { story } from './story.ts'

/* What `status` says, and how it ends. */

test('a filter beside a key is a usage error; one that matches nothing is named', () =>
  story(
    'orders',
    `status Pipe/orders --kind Pipe --label team=x => 64 | --kind Pipe --label team=x filters the list of all resources.
    | Give either --kind Pipe --label team=x or Pipe/orders.
    status --label team=x => 1 | there is no ledger
    apply
    status --kind pipe --label team=x --reason Drifted | not: RESOURCE | not: recorded yet
    | No resource matches --kind Pipe --label team=x --reason Drifted.
    status --label team=x -o name | not: Pipe
    history --label team=x | No entry of the history matches --label team=x.`,
  ))

test('what has a manifest and no record yet is said to be where it is, and not mistaken for another', () =>
  story(
    'orders',
    `apply
    write neworders
    write wrong flawed
    status Pipe/neworders => 1 | Pipe/neworders was not reconciled yet. Its manifest: {dir}/manifests/neworders.yaml:1.
    status Pipe/wrong => 1 | wrong.yaml:1. It has errors: see "pipewright validate".
    status Pipe/order => 1 | Did you mean Pipe/orders?
    history Pipe/order => 1 | Pipe/order. Did you mean Pipe/orders?
    status Pipe/nothing-like-it => 1 | "pipewright status" lists all keys. | not: Ready
    history Pipe/nothing-like-it => 1 | "pipewright status" lists all keys.
    status --status Readdy => 64 | Did you mean Ready?`,
  ))

test('a kind may be written small, and a reason is found wherever it is shown', () =>
  story(
    'orders',
    `apply
    status pipe/orders | Pipe/orders
    history pipe/orders | Pipe/orders
    schema pipe | $schema
    status --reason NotJudged -o name | Pipe/orders | not: Service
    status --reason InSync -o name | Pipe/orders Service/analytics
    status -o name --kind Pipe --status ready | Pipe/orders | not: Service`,
  ))

test('who needs the ledger for itself says so, and what to do', () =>
  story('orders', 'apply', async ({ own, command }) => {
    await using _ = await own()
    const { stderr } = await command('apply')
    expect(stderr).toContain('Two processes could create a pipe twice. Stop the other process.')
    expect(stderr).toContain('if it is a daemon, use "pipewright reconcile --wait"')
  }))

test('of a daemon that died, the list does not end with all that was fine then', () =>
  story(
    'orders',
    'apply',
    async ({ own }) => (await own())[Symbol.asyncDispose](),
    'status => 1 | As recorded, none of 2 needed attention. 1 is in a state',
  ))

test('a create that was begun by a process that died is no resource that waits', () =>
  story(
    '',
    'apply',
    async ({ own }) => {
      await using ledger = await own()
      await ledger.swap({ ...blankRecord('Pipe/orders'), intent: intent('open') }, [])
    },
    `status => 1 | The daemon is not running: it started
    status Pipe/orders => 1 | A create is in progress, or Pipewright stopped before the create ended. | not: Not reconciled yet.`,
  ))

test('no sentence stands twice, and no step asks for what was just asked', () =>
  story(
    'orders',
    `apply
    apply --base-url http://127.0.0.1:1 => 1
    status Pipe/orders => 1 | If the problem lasts, check that this host reaches | not: status Pipe/orders
    status Service/analytics => 1 | The last request with the credentials of this service failed: no connection to | not: the pipe`,
    ({ workspace }) => rmSync(workspace.path('manifests/orders.yaml')),
    `apply => 1
    status Pipe/orders => 1 | Orphaned | once: No resource is deleted | once: forget Pipe/orders | Ready … as Synced`,
  ))

test('apply without a directory does not say that all is well', () =>
  story(
    'orders',
    'apply',
    ({ workspace }) => rmSync(workspace.manifests, { recursive: true }),
    'apply => 1 | As recorded, none of 2 needed attention. | The manifests directory is missing',
  ))

test('what is said of an invalid manifest is its mistake, also by the ledger', () =>
  story(
    'orders',
    `apply
    write orders flawed
    apply => 1
    status => 1 | There is no field "topisc" | not: In sync.`,
  ))

test.each(['apply', 'apply --wait --timeout 3s'])(
  'a pipe that is not found is no success of %s, although one reading proves nothing',
  (again) =>
    story(
      'orders',
      `apply
      vanish orders
      ${again} => 1 | but that read might be wrong
      posts 1`,
    ),
)
