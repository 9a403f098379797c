import { test } from 'vitest'
import { pipeThere } from '../support/manifests.ts'
import { given } from './given.ts'
import { story } from './story.ts'

/* What is refused, and says why, changes nothing. */

const NOWHERE = '0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a99'
const STRAY = '0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a98'

test.each([
  [
    'what has a manifest, with a mistake or without',
    `forget Pipe/orders => 1 | has a manifest at orders.yaml:1…pipewright suspend
    forget Service/analytics => 1 | not: suspend
    write orders replicas=-1
    forget Pipe/orders => 1 | has a manifest at orders.yaml:1
    adopt Pipe/orders {orders} => 1 | The manifest of Pipe/orders has errors; correct them first. orders.yaml:1`,
  ],
  [
    'an id that another manifest or a Lock names',
    `write other policy.adopt=${NOWHERE}
    locked Pipe/more=${STRAY}
    write new
    adopt Pipe/new ${NOWHERE} => 1 | policy.adopt at other.yaml:1 assigns pipe … to Pipe/other
    adopt Pipe/new ${STRAY} => 1 | A Lock assigns pipe … to Pipe/more
    adopt Pipe/other ${STRAY} => 1 | policy.adopt at other.yaml:1 assigns pipe ${NOWHERE} to Pipe/other
    adopt Pipe/new {orders} => 1 | already belongs to Pipe/orders`,
  ],
  [
    'another pipe while the first one exists, or might exist',
    `adopt Pipe/orders ${STRAY} => 1 | Pipe/orders already has pipe …, which exists
    | "pipewright forget Pipe/orders" | policy.adopt: …
    vanish orders
    adopt Pipe/orders ${STRAY} => 1 | which was not found, but the loss is not confirmed yet`,
  ],
  [
    'an adoption without a manifest of the pipe, and of its service',
    `adopt Pipe/oders {orders} => 1 | There is no manifest of Pipe/oders | Did you mean Pipe/orders?
    remove orders
    forget Pipe/orders --ledger sqlite:{dir}/ledger.db => 1 | is not Orphaned yet | "pipewright apply --ledger sqlite:{dir}/ledger.db"
    remove service
    adopt Pipe/orders {orders} => 1 | Pipe/orders and Service/analytics have no manifest`,
  ],
  [
    'a platform that refuses the credentials',
    `mount credentials/analytics-api/keySecret=wrong
    adopt Pipe/orders {orders} => 1 | No change was made: the pipe could not be read | refused the credentials`,
  ],
])('refused: %s', (_what, lines) =>
  story(
    given(['orders'], { fixture: { pipes: [pipeThere(STRAY, 'stray')] } }),
    `apply\nchanges createPipe\n${lines}\nchanges none`,
  ),
)
