import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { SERVICE_ID } from '../support/manifests.ts'
import { type Given, given } from './given.ts'
import { play, run } from './story.ts'

const NOWHERE = '0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a99'

/** What is refused, the steps before it, and its line of a story. */
type Refusal = readonly [what: string, before: string, line: string]

/** Of these, what goes before changes neither the ledger nor the pipes that are there. */
const REFUSALS = `
adopting what is no pipe: adopt Alert/lag ${NOWHERE} => 64 | cannot be adopted or resolved
a key that is none: adopt orders ${NOWHERE} => 64 | is not a key
a kind that is none, in the history: history Pump/orders => 64 | is not a key
an id that is none: adopt Pipe/orders x => 64 | is not the id
resolving both ways at once: resolve Pipe/orders --retry --adopt ${NOWHERE} => 64 | give --adopt ID if the pipe exists
resolving neither way: resolve Pipe/orders => 64 | give --adopt ID if the pipe exists
resolving what is settled with an id:
  resolve Pipe/orders --adopt {orders} => 1 | Pipe/orders has no create of unknown outcome: it has pipe
forgetting what has a manifest: forget Pipe/orders => 1 | has a manifest at orders.yaml:1…pipewright suspend
forgetting what is unknown: forget Pipe/nothing => 1 | No change was made: the ledger has no record of Pipe/nothing
an id that another key holds: adopt Pipe/orders {refunds} => 1 | Pipe … already belongs to Pipe/refunds
an id that another key holds, for a key that has none:
  write new; adopt Pipe/new {REFUNDS} => 1 | already belongs to Pipe/refunds
an id that another manifest is about to adopt:
  write other policy.adopt=${NOWHERE}; write new; adopt Pipe/new ${NOWHERE} => 1
  | policy.adopt at other.yaml:1 assigns pipe … to Pipe/other
another id than the manifest itself names: write new policy.adopt=${NOWHERE};
  adopt Pipe/new {stray} => 1 | policy.adopt at new.yaml:1 assigns pipe ${NOWHERE} to Pipe/new
an id that a Lock gives to another key: locked Pipe/other=${NOWHERE}; write other; write new;
  adopt Pipe/new ${NOWHERE} => 1 | A Lock assigns pipe … to Pipe/other
another id than a Lock gives to the key: locked Pipe/new=${NOWHERE}; write new;
  adopt Pipe/new {stray} => 1 | A Lock assigns pipe ${NOWHERE} to Pipe/new
a pipe of another service:
  write new; adopt Pipe/new {far} => 1 | There is no pipe … in service analytics (${SERVICE_ID})
an id that is not there:
  write new; adopt Pipe/new ${NOWHERE} => 1 | There is no pipe 0b6c1d1e-… in service analytics
a manifest that is unknown, with the nearest name:
  adopt Pipe/oders {orders} => 1 | There is no manifest of Pipe/oders | Did you mean Pipe/orders?
a manifest that has errors: write orders flawed;
  adopt Pipe/orders {orders} => 1 | The manifest of Pipe/orders has errors; correct them first. orders.yaml:1
an adoption without a manifest of the pipe and of its service: remove orders; remove service;
  adopt Pipe/orders ${NOWHERE} => 1 | Pipe/orders and Service/analytics have no manifest
an adoption whose secret is not mounted:
  write orders key=passwort; adopt Pipe/orders {orders} => 1 | Secret file not found: …kafka/passwort
another pipe while the first one exists:
  adopt Pipe/orders {stray} => 1 | Pipe/orders already has pipe …, which exists
  | "pipewright forget Pipe/orders" | policy.adopt: …
forgetting what has a manifest with errors:
  write orders flawed; forget Pipe/orders => 1 | has a manifest at orders.yaml:1
forgetting while the file cannot be parsed: mount manifests/orders.yaml=[; forget Pipe/orders => 1 | a manifest
forgetting from an empty directory: remove orders; remove refunds; remove service;
  forget Pipe/orders => 1 | it is unknown whether Pipe/orders has a manifest | is empty, but it had manifests before
forgetting what was no orphan at the last reconcile, perhaps from another directory:
  remove orders; forget Pipe/orders => 1 | is not Orphaned yet | pipewright apply
a ledger that is not there: forget Pipe/orders --ledger sqlite:{dir}/none.db => 1 | there is no ledger at
an adoption whose secret is a credential of the platform: mount secrets/kafka/password={credential};
  adopt Pipe/orders {orders} => 1 | Secret file cannot be used: …kafka/password
  | (a platform credential, which Pipewright does not send to a data source).
a platform that refuses the credentials: mount credentials/analytics-api/keySecret=wrong;
  adopt Pipe/orders {orders} => 1 | No change was made: the pipe could not be read | refused the credentials`

function refusalOf(row: string): Refusal {
  const parts = /^([^:]+): (?:(.*); )?([^;]+ => .*)$/.exec(row.replaceAll(/\n */g, ' '))
  if (parts === null) throw new Error(`no refusal: ${row}`)
  const [, what = '', before = '', line = ''] = parts
  return [what, before, line]
}

/** Two pipes are there, and two that somebody made by hand. */
async function settled(): Promise<Given> {
  const world = await given('orders', 'refunds')
  await play(world, 'apply\nmake stray\nmake far other')
  return world
}

/** What the ledger holds, as rows, and what the platform has. */
function stateOf({ workspace, platform, posts }: Given): readonly unknown[] {
  using db = new DatabaseSync(workspace.path('ledger.db'), { readOnly: true })
  return [db.prepare('SELECT key, version, body FROM record').all(), platform.pipes().length, posts()]
}

async function expectRefusal(world: Given, [, before, line]: Refusal): Promise<void> {
  const credential = readFileSync(`${world.workspace.credentials}/analytics-api/keySecret`, 'utf8')
  await play(world, before.replace('{credential}', credential).replaceAll('; ', '\n'))
  const there = stateOf(world)
  expect(await run(world, line)).toBe('')
  expect(stateOf(world)).toEqual(there)
}

describe('what is refused changes nothing', () => {
  // One world for all.
  let shared: Given
  beforeAll(async () => {
    shared = await settled()
  })
  beforeEach(() => play(shared, 'again orders refunds'))
  afterAll(() => shared[Symbol.asyncDispose]())

  test.each(
    REFUSALS.trim()
      .split(/\n(?! )/)
      .map(refusalOf),
  )('%s', (...refusal) => expectRefusal(shared, refusal))

  test('another pipe while the first one is not found, which is not believed yet', async () => {
    await using world = await settled()
    const line = 'adopt Pipe/orders {stray} => 1 | which was not found, but the loss is not confirmed yet'
    await expectRefusal(world, ['', 'vanish orders', line])
  })
})
