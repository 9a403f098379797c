import { test } from 'vitest'
import { pipeThere } from '../support/manifests.ts'
import { given } from './given.ts'
import { story } from './story.ts'

/* A Lock, and a ledger that is lost. */

const NEW = '--ledger sqlite:{dir}/new.db'
const NEVER = `--ledger-init never ${NEW}`
const OLDER = '0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a98'

test('with a Lock, a lost ledger rebuilds itself by adopting, with no POST, once a person says so', () =>
  story(
    'orders refunds',
    `apply
    lock | as pipes.lock.yaml. | Pipe/orders: {orders} Pipe/refunds: {refunds}
    keep lock
    validate | no findings
    plan ${NEVER} -o markdown => 2 | > There is no ledger at {dir}/new.db. "run" and "apply" do not start
    apply ${NEVER} => 1 | pipewright plan
    plan ${NEVER} -o json => 2 | "missingLedger": { "file": "{dir}/new.db", "init": "never" }
    | "key": "Pipe/orders"…"action": "adopt"…"remoteId": "{orders}"
    | "key": "Pipe/refunds"…"action": "adopt"…"remoteId": "{refunds}"
    apply ${NEW}
    posts 2
    plan ${NEVER} | not: There is no ledger
    mount damaged.db=${'no-database'.repeat(99)}
    plan --ledger sqlite:{dir}/damaged.db => 1 | not: to create`,
  ))

test('a pipe of unknown outcome is not in it, and that is a failure; without pipes, there is none', () =>
  story(
    'orders',
    `create: 422
    apply => 1
    lock => 1 | keep the last Lock | not: pipes
    write refunds
    later 1 h
    create: cut-after orders
    apply => 1
    lock --name ids -o json => 1 | "name": "ids" | { "Pipe/refunds": "{refunds}" }
    | Pipe/orders is not in the Lock: it is unknown whether its pipe was created`,
  ))

test('one that names the pipe which was given up stands in the way of nobody who found the new one', () =>
  story(
    'orders refunds',
    `apply
    lock
    keep lock
    vanish orders
    resolve Pipe/orders --recreate
    create: cut-after
    apply => 1
    apply => 1
    shows Pipe/orders OutcomeUnknown
    resolve Pipe/orders --adopt {orders}
    mount secrets/kafka/password=other
    apply => 1 | pipewright adopt Pipe/orders {orders}
    adopt Pipe/orders {orders} | now treats the current manifest`,
  ))

test('forget beside a Lock, adopt without a ledger, and resolve to an older pipe say so', () =>
  story(
    given(['orders', 'refunds'], {
      fixture: { pipes: [pipeThere(OLDER, 'older', { createdAt: '2026-01-01T00:00:00Z' })] },
    }),
    `apply
    lock
    keep lock
    remove orders
    apply => 1
    forget Pipe/orders | A Lock assigns pipe {orders} to it.
    adopt Pipe/refunds {refunds} ${NEW} | there is no ledger at sqlite:{dir}/new.db
    write new
    create: cut-after
    apply => 1
    resolve Pipe/new --adopt ${OLDER} => 1 | before this create began at
    adopt Pipe/new ${OLDER}`,
  ))
