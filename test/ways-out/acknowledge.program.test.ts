import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { KAFKA_PASSWORD, pipeManifest } from '../support/manifests.ts'
import {
  ageIntent,
  ageIntentOfProxy,
  given,
  reopenIntent,
  shownAs,
  strayPipe,
  unknownOutcome,
} from './given.ts'

describe('adopting again what the key already has says: I made the change in the console', () => {
  test.each([
    [
      'a rotated secret',
      'SecretRotated',
      async ({ workspace }: Awaited<ReturnType<typeof given>>) =>
        workspace.write('secrets/kafka/password', 'planted-rotated-1'),
    ],
    [
      'an edit of a field that the platform does not report',
      'NotUpdatable',
      async ({ workspace }: Awaited<ReturnType<typeof given>>) =>
        workspace.write(
          'manifests/orders.yaml',
          pipeManifest('orders').replace('username: reader', 'username: writer'),
        ),
    ],
  ])('%s', async (_, reason, change) => {
    await using world = await given('orders')
    await world.apply()
    await change(world)
    await world.apply()
    const reported = await world.status('Pipe/orders')
    expect(reported).toMatchObject({ status: 'Drifted', reason })
    const words = /"pipewright (adopt [^"]+)"/.exec(reported.message)?.[1] ?? ''
    expect(words).toBe(`adopt Pipe/orders ${world.pipeId('orders')}`)
    expect(await world.command(...words.split(' '))).toMatchObject({ code: 0, stderr: '' })
    expect((await world.apply()).code).toBe(0)
    expect(await world.status('Pipe/orders')).toMatchObject({
      status: 'Ready',
      pipeId: world.pipeId('orders'),
    })
    expect(world.posts()).toBe(1)
  })

  test('nothing that was so all along begins anew', async () => {
    await using world = await given('orders')
    await world.apply()
    const before = await world.status('Pipe/orders')
    expect((await world.command('adopt', 'Pipe/orders', world.pipeId('orders'))).code).toBe(0)
    expect((await world.status('Pipe/orders')).conditions).toEqual(before.conditions)
    await world.apply()
    expect((await world.status('Pipe/orders')).conditions).toEqual(before.conditions)
  })

  test('what settles an unknown outcome leaves standing that the manifest is valid', async () => {
    await using world = await unknownOutcome({ type: 'cut-after' })
    const before = await world.status('Pipe/orders')
    expect((await world.command('resolve', 'Pipe/orders', '--adopt', world.pipeId('orders'))).code).toBe(0)
    expect(await world.status('Pipe/orders')).toMatchObject({ status: 'Progressing', reason: 'Unobserved' })
    await world.apply()
    const after = await world.status('Pipe/orders')
    expect(after.status).toBe('Ready')
    expect(after.conditions.Valid).toEqual(before.conditions.Valid)
    const { stdout } = await world.command('history', 'Pipe/orders')
    expect(stdout.match(/Valid=True/g)).toHaveLength(1)
  })

  test('fields that the platform still reports otherwise are told, and stay reported', async () => {
    await using world = await given('orders')
    await world.apply()
    world.workspace.write('manifests/orders.yaml', pipeManifest('orders', { replicas: 3 }))
    const ended = await world.command('adopt', 'Pipe/orders', world.pipeId('orders'), '-o', 'json')
    expect(JSON.parse(ended.stdout)).toMatchObject({
      result: 'done',
      differences: [{ field: 'scaling.replicas' }],
    })
    expect((await world.apply()).code).toBe(1)
    expect(await world.status('Pipe/orders')).toMatchObject({ status: 'Drifted', reason: 'Drifted' })
  })

  test('but what an unknown create made has the secret of then: a rotation since is reported', async () => {
    await using world = await unknownOutcome({ type: 'cut-after' })
    world.workspace.write('secrets/kafka/password', 'planted-rotated-2')
    expect((await world.command('resolve', 'Pipe/orders', '--adopt', world.pipeId('orders'))).code).toBe(0)
    await world.apply()
    expect(await world.status('Pipe/orders')).toMatchObject({ status: 'Drifted', reason: 'SecretRotated' })
    world.workspace.write('secrets/kafka/password', KAFKA_PASSWORD)
    expect((await world.apply()).code).toBe(0)
  })

  test('a pipe made by hand can be adopted before the first run, and is not created', async () => {
    await using world = await given('orders')
    const id = await strayPipe(world, 'orders')
    expect(await world.command('adopt', 'Pipe/orders', id)).toMatchObject({ code: 0, stderr: '' })
    expect((await world.apply()).code).toBe(0)
    expect(world.posts()).toBe(1)
    expect(await world.status('Pipe/orders')).toMatchObject({ status: 'Ready', pipeId: id })
  })
})

describe('an intent that is open', () => {
  test('is not touched while the daemon sends it: the command waits for its end', async () => {
    await using world = await given('orders')
    world.platform.faults.add({ operation: 'createPipe', fault: { type: 'latency', ms: 2_000 } })
    await world.startDaemon('--interval', '1h')
    await until('the POST', () => world.posts() === 1)
    const ended = await world.command('resolve', 'Pipe/orders', '--retry')
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toContain(`it has pipe ${world.pipeId('orders')}, created at`)
    expect(world.posts()).toBe(1)
  })

  test.each(
    Object.entries({
      'its process never said that it ended': {
        date: reopenIntent,
        waitMin: 15,
        says: /might still be delivered\. To create again now could make two pipes/,
      },
      'the network may still deliver it': {
        date: ageIntent,
        waitMin: 2,
        says: /the network might still deliver/,
      },
      'a proxy might still pass it on': {
        date: ageIntentOfProxy,
        waitMin: 15,
        says: /the proxy http:\/\/proxy\.example:3128 might still pass it on\. To create again now could make two/,
      },
    }),
  )('is not tried again at once, since %s', async (_why, { date, waitMin, says }) => {
    await using world = await unknownOutcome({ type: 'cut-before' })
    const intentId = (await world.status('Pipe/orders')).intent?.id
    const retry = () => world.command('resolve', 'Pipe/orders', '--retry')
    date(world, 'Pipe/orders', waitMin * 60_000 - 60_000)
    const ended = await retry()
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toMatch(says)
    expect(ended.stderr).toMatch(/After \d{4}-.*Z,.* run this again\. To take the risk now, add --force/)

    // The same word in Git is too early, too, and does not become right by waiting.
    const policy = `policy: {retryCreate: ${intentId}}`
    world.workspace.write('manifests/orders.yaml', pipeManifest('orders', { more: policy }))
    await world.apply()
    date(world, 'Pipe/orders', waitMin * 60_000 + 6_000)
    await world.apply()
    expect((await world.status('Pipe/orders')).message).toContain('Remove it and commit')
    expect(world.posts()).toBe(1)
    expect(await retry()).toMatchObject({ code: 0, stderr: '' })
    expect((await world.apply()).code).toBe(0)
    expect(world.platform.pipes()).toHaveLength(1)
  })

  test('is settled at once by --force, which says the risk', async () => {
    await using world = await unknownOutcome({ type: 'cut-before' })
    reopenIntent(world, 'Pipe/orders', 1_000)
    const ended = await world.command('resolve', 'Pipe/orders', '--retry', '--force')
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).toContain('If the earlier request still arrives, there will be two pipes')
    // Nobody can know yet: it is said as little here as in the history, and by a second try.
    const again = await world.command('resolve', 'Pipe/orders', '--retry')
    const history = await world.command('history', 'Pipe/orders', '-o', 'json')
    const [set] = JSON.parse(history.stdout) as readonly { readonly message: string }[]
    for (const said of [ended.stdout, again.stderr, set?.message]) {
      expect(said).toMatch(/Its outcome is unknown|set it aside, and its outcome is unknown/)
      expect(said).not.toContain('created nothing')
    }
    expect((await world.apply()).code).toBe(0)
    expect(world.platform.pipes()).toHaveLength(1)
  })
})

test('that a pipe is gone is taken back when a later command finds it', async () => {
  await using world = await given('orders', 'refunds')
  await world.apply()
  const id = world.pipeId('orders')
  const hide = (times: number) =>
    world.platform.faults.add({
      operation: 'getPipe',
      subject: id,
      times,
      fault: { type: 'status', status: 404 },
    })
  await world.apply()
  hide(1)
  expect(await world.command('resolve', 'Pipe/orders', '--recreate')).toMatchObject({ code: 0 })
  const { code, stderr } = await world.command('resolve', 'Pipe/orders', '--recreate')
  expect(code).toBe(1)
  expect(stderr).toContain(`Pipe ${id} exists`)
  hide(5)
  await world.apply()
  expect(await world.status('Pipe/orders')).toMatchObject({ pipeId: id })
  expect(world.posts()).toBe(2)
})

test('suspend at a running daemon counts until the next revision; resume ends it sooner', async () => {
  await using world = await given('orders')
  const { url } = await world.startDaemon('--interval', '1h')
  await shownAs(url, 'Pipe/orders', 'Ready')
  const suspend = () => world.command('suspend', 'Pipe/orders', '--reason', 'a freeze')
  expect(await suspend()).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('a freeze') })
  await shownAs(url, 'Pipe/orders', 'Suspended')
  expect(await world.command('resume', 'Pipe/orders')).toMatchObject({
    code: 0,
    stdout: 'Resumed Pipe/orders.\n',
  })
  await shownAs(url, 'Pipe/orders', 'Ready')
  await suspend()
  await shownAs(url, 'Pipe/orders', 'Suspended')
  world.workspace.write('manifests/other.yaml', pipeManifest('other'))
  await shownAs(url, 'Pipe/orders', 'Ready')
})
