import { expect, test } from 'vitest'
import { createFailpoints } from '../support/failpoints.ts'
import { pipeThere, SERVICE_ID } from '../support/manifests.ts'
import { given } from './given.ts'
import { story } from './story.ts'

/* What a person settles by a command: creates of unknown outcome, adoptions, and what is forgotten. */

const ID = '0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a98'

test('a pipe made by hand is adopted before the first run; again, it says: I made the change in the console', () =>
  story(
    given(['orders'], { fixture: { pipes: [pipeThere(ID, 'orders')] } }),
    `adopt Pipe/orders ${ID}
    apply
    shows Pipe/orders Ready
    mount secrets/kafka/password=planted-rotated-1
    write orders username=writer
    apply => 1
    shows Pipe/orders Drifted NotUpdatable | "pipewright adopt Pipe/orders ${ID}"
    adopt Pipe/orders ${ID}
    apply
    shows Pipe/orders Ready
    write orders username=writer replicas=3
    adopt Pipe/orders ${ID} -o json | "result": "done" | "field": "scaling.replicas"
    apply => 1
    shows Pipe/orders Drifted Drifted
    changes none`,
  ))

test('a create of unknown outcome is told with time, intent and each way out, always in the same words', () => {
  let before: object | undefined
  return story(
    'orders',
    `create: cut-after
    apply => 1 | "level":"error"…"intentId":"{intent}"…pipewright resolve Pipe/orders --adopt…"msg":"Create finished"
    shows Pipe/orders OutcomeUnknown | was cut before a reply came | sent at 20
    | the pipe "orders" was created in service analytics (${SERVICE_ID})
    | "pipewright resolve Pipe/orders --adopt PIPE_ID" | "pipewright resolve Pipe/orders --retry"
    | set policy.adopt: PIPE_ID | set policy.retryCreate: {intent}
    status Pipe/orders => 1 | 1, unknown, | intent {intent}
    history Pipe/orders | once: The create was sent at 20`,
    async ({ status }) => void (before = (await status('Pipe/orders')).conditions),
    'apply => 1',
    async ({ status }) => expect((await status('Pipe/orders')).conditions).toEqual(before),
    `mount secrets/kafka/password=planted-rotated-2
    resolve Pipe/orders --adopt {orders}
    shows Pipe/orders Progressing Unobserved
    apply => 1
    shows Pipe/orders Drifted SecretRotated
    history Pipe/orders | once: Valid=True
    posts 1`,
  )
})

test('is settled by --retry after a while, or at once by --force, which says the risk and not what it did', () =>
  story(
    'orders',
    `create: cut-before
    apply => 1
    later 1 min
    resolve Pipe/orders --retry => 1 | the network might still deliver
    | After 20…Z,…run this command again. To take the risk now, add --force
    later 2 min
    resolve Pipe/orders --retry
    create: cut-before
    apply => 1
    resolve Pipe/orders --retry --force | Its outcome is unknown | not: created nothing
    | If the earlier request still arrives, there will be two pipes
    resolve Pipe/orders --retry => 1 | set it aside, and its outcome is unknown | not: created nothing
    history Pipe/orders -o json | another create with --force, although the outcome of attempt
    apply
    pipes 1`,
  ))

test('an orphan of unknown outcome is told, and can be forgotten with its attempt or its id in the history', () =>
  story(
    'orders refunds',
    `create: cut-after orders
    apply => 1
    remove orders
    remove refunds
    apply => 1
    shows Pipe/orders Orphaned | Its pipe might exist. No resource is deleted, | once: "pipewright
    | Then, after 20…run: "pipewright forget Pipe/orders"
    forget Pipe/orders => 1 | the network might still deliver a part of it…After 20
    forget Pipe/refunds -o json | "key": "Pipe/refunds" | "result": "done" | "pipeId": "{refunds}"
    status Pipe/refunds => 1 | no record of Pipe/refunds
    history Pipe/refunds | forget Orphaned: done | {refunds}
    later 10 min
    forget Pipe/orders
    history Pipe/orders -o json | "action": "forget"…By operator:…The create was sent at 20…(intent
    pipes 2`,
  ))

test('apply ends with 70 if a reconcile throws, and the next one creates each pipe once', () =>
  story(
    'orders refunds',
    () =>
      Object.assign(globalThis, {
        pipewrightFailpoints: createFailpoints({ at: 'after-intent', action: 'throw', nth: 1 }),
      }),
    'apply --concurrency 1 => 70 | of 3 needs',
    () => Object.assign(globalThis, { pipewrightFailpoints: undefined }),
    'later 1 min\napply\npipes 2\nposts 2',
  ))
