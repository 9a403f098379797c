import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { story } from './story.ts'

/* A Lock, and a ledger that is lost. */

const TWO = 'orders refunds'

test('with a Lock, a lost ledger rebuilds itself by adopting, with no POST', () =>
  story(
    TWO,
    'apply',
    async ({ command, pipeId }) =>
      expect(parse((await command('lock')).stdout)).toEqual({
        apiVersion: 'pipewright/v1',
        kind: 'Lock',
        metadata: { name: 'pipes' },
        spec: { pipes: { 'Pipe/orders': pipeId('orders'), 'Pipe/refunds': pipeId('refunds') } },
      }),
    `lock | as pipes.lock.yaml.
    keep lock
    validate | no findings
    lost
    apply
    posts 2
    lock | Pipe/orders: {orders} Pipe/refunds: {refunds}`,
  ))

describe('with no ledger, and --ledger-init=never', () => {
  const PLAN = 'plan --ledger-init never'

  test('plan says so first, what would be created, and what the Lock takes over; it makes nothing', () =>
    story(
      TWO,
      `apply
      lost
      ${PLAN} => 2 | There is no ledger at {dir}/ledger.db. "run" and "apply" do not start | 2 to create
      ${PLAN} -o markdown => 2 | > There is no ledger at `,
    ))

  test('apply refuses, and leads there; with a word for this one time, it takes over what the Lock names', () =>
    story(
      TWO,
      `apply
      lock
      keep pipes.lock
      lost
      ${PLAN} -o json => 2 | "missingLedger": { "file": "{dir}/ledger.db", "init": "never" }
      | "key": "Pipe/orders"…"action": "adopt"…"remoteId": "{orders}"
      | "key": "Pipe/refunds"…"action": "adopt"…"remoteId": "{refunds}"
      apply --ledger-init never => 1 | pipewright plan`,
      ({ workspace }) => expect(existsSync(workspace.path('ledger.db'))).toBe(false),
      `apply --ledger-init auto
      posts 2
      ${PLAN} | not: There is no ledger`,
    ))

  test('a damaged ledger is none that is missing: plan refuses it, and works with an empty one in its place', () =>
    story(
      'orders',
      `apply
      damaged
      plan => 1 | not: to create
      plan --ledger memory: => 2 | 1 to create`,
    ))
})

test('a pipe of unknown outcome is not in it, and that is a failure, since it would be created again', () =>
  story(
    TWO,
    `create: cut-after orders
    apply => 1
    lock --name ids -o json => 1 | "name": "ids" | { "Pipe/refunds": "{refunds}" }
    | Pipe/orders is not in the Lock: it is unknown whether its pipe was created`,
  ))

test('without pipes, as after a lost ledger, there is none; a key that was never created needs no line', () =>
  story(
    '',
    `write never policy.dependsOn=[Alert/none]
    apply => 1
    lock => 1 | keep the last Lock | not: pipes`,
  ))

test('one that names the pipe which was given up stands in the way of nobody who found the new one', () =>
  story(
    TWO,
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
    apply
    shows Pipe/orders Ready
    mount secrets/kafka/password=other
    apply => 1 | pipewright adopt Pipe/orders {orders}
    adopt Pipe/orders {orders} | now treats the current manifest`,
  ))

test('forget beside a Lock, adopt without a ledger, and resolve to an older pipe say so', () =>
  story(
    TWO,
    `make older
    later 10 min
    apply
    lock
    keep lock
    remove orders
    apply => 1
    forget Pipe/orders | A Lock assigns pipe {orders} to it.
    adopt Pipe/refunds {refunds} --ledger sqlite:{dir}/new.db | there is no ledger at sqlite:{dir}/new.db
    write new
    create: cut-after
    apply => 1
    resolve Pipe/new --adopt {older} => 1 | before this create began at
    adopt Pipe/new {older}`,
  ))
