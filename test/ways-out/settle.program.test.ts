import { describe, expect, test } from 'vitest'
import { createFailpoints } from '../support/failpoints.ts'
import { SERVICE_ID } from '../support/manifests.ts'
import type { Given } from './given.ts'
import { story } from './story.ts'

/* What a person settles by a command: creates of unknown outcome, adoptions, and what is forgotten. */

/** Its create got no reply. */
const UNKNOWN = `
  create: cut-after
  apply => 1
  shows Pipe/orders OutcomeUnknown`

const RESOLVED = 'resolve Pipe/orders --adopt {orders}'

/** Conditions that were so before the last steps are not new ones. */
function notes(...of: readonly ('Valid' | 'Synced' | 'Ready')[]) {
  const told = { before: {} }
  const look = async ({ status }: Given) => {
    const { conditions } = await status('Pipe/orders')
    return Object.fromEntries(of.map((each) => [each, conditions[each]]))
  }
  return {
    before: async (world: Given) => void (told.before = await look(world)),
    same: async (world: Given) => expect(await look(world)).toEqual(told.before),
  }
}

describe('adopting again what the key already has says: I made the change in the console', () => {
  test.each([
    ['a rotated secret', 'mount secrets/kafka/password=planted-rotated-1', 'SecretRotated'],
    ['an edit of a field that the platform does not report', 'write orders username=writer', 'NotUpdatable'],
  ])('%s', (_, change, reason) =>
    story(
      'orders',
      `apply
      ${change}
      apply => 1
      shows Pipe/orders Drifted ${reason}
      tells Pipe/orders | "pipewright adopt Pipe/orders {orders}"
      adopt Pipe/orders {orders}
      apply
      shows Pipe/orders Ready
      posts 1`,
    ),
  )

  test('nothing that was so all along begins anew', async () => {
    const { before, same } = notes('Valid', 'Synced', 'Ready')
    await story('orders', 'apply', before, 'adopt Pipe/orders {orders}', same, 'apply', same)
  })

  test('fields that the platform still reports otherwise are told, and stay reported', () =>
    story(
      'orders',
      `apply
      write orders replicas=3
      adopt Pipe/orders {orders} -o json | "result": "done" | "field": "scaling.replicas"
      apply => 1
      shows Pipe/orders Drifted Drifted`,
    ))
})

test('a pipe made by hand can be adopted before the first run, and is not created', () =>
  story(
    'orders',
    `make orders
    adopt Pipe/orders {orders}
    apply
    posts 1
    shows Pipe/orders Ready`,
  ))

test('that a pipe is gone is taken back when a later command finds it', () =>
  story(
    'orders refunds',
    `apply
    apply
    hide orders 1
    resolve Pipe/orders --recreate
    resolve Pipe/orders --recreate => 1 | Pipe {orders} exists
    hide orders 5
    apply => 1
    posts 2`,
  ))

describe('a create of unknown outcome', () => {
  test.each([
    ['cut-after', 'was cut before a reply came'],
    ['error-after', 'answered 500'],
    ['html', 'answered 502'],
    ['no-id', 'answered 200, but without the expected content'],
  ])('after %s is told with time, intent and each way out, always in the same words', async (fault, seen) => {
    const { before, same } = notes('Synced')
    await story(
      'orders',
      `create: ${fault}
      apply => 1 | "level":"error"…"intentId":"{intent}"…pipewright resolve Pipe/orders --adopt…"msg":"Create finished"
      tells Pipe/orders | ${seen} | sent at 20 | the pipe "orders" was created in service analytics (${SERVICE_ID})
      | "pipewright resolve Pipe/orders --adopt PIPE_ID" | "pipewright resolve Pipe/orders --retry"
      | set policy.adopt: PIPE_ID | set policy.retryCreate: {intent}
      status Pipe/orders => 1 | 1, unknown, | intent {intent}
      history Pipe/orders -o json | It is unknown whether
      history Pipe/orders | once: The create was sent at 20`,
      before,
      'apply => 1',
      same,
      `later 10 min
      ${fault === 'html' ? 'resolve Pipe/orders --retry' : RESOLVED}
      apply
      pipes 1`,
    )
  })

  test('that is settled leaves standing that the manifest is valid', async () => {
    const { before, same } = notes('Valid')
    const settled = `${RESOLVED}
      shows Pipe/orders Progressing Unobserved
      apply
      shows Pipe/orders Ready
      history Pipe/orders | once: Valid=True`
    await story('orders', UNKNOWN, before, settled, same)
  })

  test('made its pipe with the secret of then: a rotation since is reported', () =>
    story(
      'orders',
      UNKNOWN,
      `mount secrets/kafka/password=planted-rotated-2
      ${RESOLVED}
      apply => 1
      shows Pipe/orders Drifted SecretRotated
      mount secrets/kafka/password=planted-kafka-password-55a
      apply`,
    ))

  test('is not tried again at once, and the same word in Git does not become right by waiting', () =>
    story(
      'orders',
      `create: cut-before
      apply => 1
      later 1 min
      resolve Pipe/orders --retry => 1 | the network might still deliver
      | After 20…Z,…run this command again. To take the risk now, add --force
      write orders policy.retryCreate={intent}
      apply => 1
      later 2 min
      apply => 1
      status Pipe/orders => 1 | Remove it and commit
      posts 1
      resolve Pipe/orders --retry
      apply
      pipes 1`,
    ))

  test('is settled at once by --force, which says the risk, and nobody says what it did', () =>
    story(
      'orders',
      `create: cut-before
      apply => 1
      resolve Pipe/orders --retry --force | Its outcome is unknown | not: created nothing
      | If the earlier request still arrives, there will be two pipes
      resolve Pipe/orders --retry => 1 | set it aside, and its outcome is unknown | not: created nothing
      history Pipe/orders -o json | another create with --force, although the outcome of attempt | not: created nothing
      apply
      pipes 1`,
    ))

  test('of an orphan is told, and can be forgotten with the attempt in the history', () =>
    story(
      'orders',
      UNKNOWN,
      `remove orders
      apply => 1
      shows Pipe/orders Orphaned
      tells Pipe/orders | Its pipe might exist. No resource is deleted, | once: "pipewright | Then, after 20…run: "pipewright forget Pipe/orders"
      forget Pipe/orders => 1 | the network might still deliver a part of it…After 20
      later 10 min`,
      async ({ status, command }) => {
        const { intent } = await status('Pipe/orders')
        expect((await command('forget', 'Pipe/orders')).code).toBe(0)
        const { stdout } = await command('history', 'Pipe/orders', '-o', 'json')
        const [last] = JSON.parse(stdout) as readonly object[]
        expect(last).toMatchObject({
          action: 'forget',
          message: expect.stringContaining(`intent ${intent?.id}`),
        })
        expect(last).not.toMatchObject({ message: expect.stringContaining('"pipewright') })
      },
    ))
})

describe('forgetting', () => {
  test('tells the id of the pipe, keeps it in the history, and the platform keeps the pipe', () =>
    story(
      'orders refunds',
      `apply
      remove orders
      apply => 1
      forget Pipe/orders -o json | "key": "Pipe/orders" | "result": "done" | "pipeId": "{orders}"
      status Pipe/orders => 1 | no record of Pipe/orders
      history Pipe/orders | forget Orphaned: done | {orders}
      pipes 2`,
    ))

  test('a key without a manifest is forgotten by itself if it was never sent or all its attempts failed', () =>
    story(
      'orders',
      `create: 422 orders
      write never policy.dependsOn=[Alert/none]
      apply => 1
      remove orders
      remove never
      apply
      status -o json | not: Pipe/
      history Pipe/orders -o json | once: "action": "forget"
      history Pipe/never -o json | not: "action": "forget"`,
    ))
})

test.each(['before-intent', 'after-intent'] as const)(
  'apply ends with 70 if a reconcile throws (%s), and the next ones create each pipe once',
  (at) =>
    story(
      'orders refunds',
      () =>
        Object.assign(globalThis, {
          pipewrightFailpoints: createFailpoints({ at, action: 'throw', nth: 1 }),
        }),
      'apply --concurrency 1 => 70 | of 3 needs',
      () => Object.assign(globalThis, { pipewrightFailpoints: undefined }),
      `later 1 min
      apply
      pipes 2
      posts 2`,
    ),
)
