import { describe, expect, test } from 'vitest'
import type { FaultInput } from '../../src/sandbox/fault-types.ts'
import { pipeManifest, SERVICE_ID } from '../support/manifests.ts'
import { ageIntent, given, unknownOutcome } from './given.ts'

/** The commands in a message. */
function commandsIn(message: string): readonly string[] {
  return [...message.matchAll(/"pipewright ([^"]+)"/g)].map((match) => match[1] ?? '')
}

describe('what is said of a create of unknown outcome', () => {
  const seen: readonly [string, FaultInput, RegExp][] = [
    ['a cut', { type: 'cut-after' }, /was cut before a reply came/],
    ['an error after the work', { type: 'error-after' }, /answered 500/],
    ['a page of a proxy', { type: 'html' }, /answered 502/],
    [
      'a reply without an id',
      { type: 'no-id' },
      /request [0-9a-f-]{36}\).*answered 200, but without the expected content/,
    ],
  ]
  test.each(seen)('after %s: time, intent, what was seen, and each way out', async (_, fault, what) => {
    await using world = await unknownOutcome(fault)
    const shown = await world.status('Pipe/orders')
    const { intent, message } = shown
    expect(message).toMatch(what)
    expect(message).toMatch(/sent at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/)
    expect(message).toContain(`the pipe "orders" was created in service analytics (${SERVICE_ID})`)
    expect(message).toContain('set policy.adopt: PIPE_ID')
    expect(message).toContain(`set policy.retryCreate: ${intent?.id}`)
    const { stdout: details } = await world.command('status', 'Pipe/orders')
    expect(details).toContain(`1, unknown, `)
    expect(details).toContain(`intent ${intent?.id}`)
    const { stdout: told } = await world.command('history', 'Pipe/orders', '-o', 'json')
    expect(told).toContain('It is unknown whether')
    const { stdout: read } = await world.command('history', 'Pipe/orders')
    expect(read.split('The create was sent at')).toHaveLength(2) // once
    // the words do not change from one reconcile to the next, or the condition would
    await world.apply()
    expect((await world.status('Pipe/orders')).message).toBe(message)

    const [adopting = '', retrying = ''] = commandsIn(message)
    expect([adopting, retrying]).toEqual([
      'resolve Pipe/orders --adopt PIPE_ID',
      'resolve Pipe/orders --retry',
    ])
    const there = world.platform.pipes().length === 1
    ageIntent(world, 'Pipe/orders', 10 * 60_000) // so long ago that nothing of it can still arrive
    const words = there ? adopting.replace('PIPE_ID', world.pipeId('orders')) : retrying
    expect(await world.command(...words.split(' '))).toMatchObject({ code: 0, stderr: '' })
    expect((await world.apply()).code).toBe(0)
    expect(world.platform.pipes()).toHaveLength(1)
  })

  test('the log line of the create says it, too', async () => {
    await using world = await given('orders')
    world.platform.faults.add({ operation: 'createPipe', fault: { type: 'cut-after' } })
    const { stderr } = await world.apply()
    const line = stderr.split('\n').find((text) => text.includes('Create finished')) ?? ''
    const { intent } = await world.status('Pipe/orders')
    expect(JSON.parse(line)).toMatchObject({ level: 'error', key: 'Pipe/orders', intentId: intent?.id })
    expect(line).toContain('pipewright resolve Pipe/orders --adopt')
  })

  test('an orphan whose create is of unknown outcome says so, and can be forgotten with the attempt in the history', async () => {
    await using world = await unknownOutcome({ type: 'cut-after' })
    const { intent } = await world.status('Pipe/orders')
    world.workspace.write('manifests/orders.yaml', '# gone\n')
    await world.apply()
    const orphan = await world.status('Pipe/orders')
    expect(orphan.status).toBe('Orphaned')
    expect(orphan.message).toContain(`Its pipe might exist. No resource is deleted, `)
    expect(commandsIn(orphan.message)).toEqual(['forget Pipe/orders'])
    const early = await world.command('forget', 'Pipe/orders')
    expect(early.stderr).toMatch(/the network might still deliver a part of it.* After \d{4}-/)
    ageIntent(world, 'Pipe/orders', 10 * 60_000)
    expect(await world.command('forget', 'Pipe/orders')).toMatchObject({ code: 0, stderr: '' })
    const { stdout } = await world.command('history', 'Pipe/orders', '-o', 'json')
    const [last] = JSON.parse(stdout) as readonly [{ action: string; message: string }]
    expect(last.action).toBe('forget')
    expect(last.message).toContain(`intent ${intent?.id}`)
    expect(commandsIn(last.message)).toEqual([])
  })
})

describe('forgetting', () => {
  test('tells the id of the pipe, keeps it in the history, and the platform keeps the pipe', async () => {
    await using world = await given('orders', 'refunds')
    await world.apply()
    const id = world.pipeId('orders')
    world.workspace.write('manifests/orders.yaml', '# gone\n')
    await world.apply()
    const ended = await world.command('forget', 'Pipe/orders', '-o', 'json')
    expect(ended.code).toBe(0)
    expect(JSON.parse(ended.stdout)).toMatchObject({ key: 'Pipe/orders', result: 'done', pipeId: id })
    expect((await world.command('status', 'Pipe/orders')).stderr).toContain('no record of Pipe/orders')
    expect((await world.command('history', 'Pipe/orders')).stdout).toMatch(
      new RegExp(`forget Orphaned: done.*${id}`),
    )
    expect(world.platform.pipes().map((pipe) => pipe.id)).toContain(id)
  })

  test('a key without a manifest is forgotten by itself if it was never sent or all its attempts failed', async () => {
    await using world = await given('orders')
    world.platform.faults.add({
      operation: 'createPipe',
      subject: 'orders',
      fault: { type: 'status', status: 422 },
    })
    world.workspace.write(
      'manifests/never.yaml',
      pipeManifest('never', { more: 'policy: {dependsOn: [Alert/none]}' }),
    )
    await world.apply()
    world.workspace.write('manifests/orders.yaml', '# gone\n')
    world.workspace.write('manifests/never.yaml', '# gone\n')
    await world.apply()
    const lines = async (key: string) => {
      const { stdout } = await world.command('history', key, '-o', 'json')
      return (JSON.parse(stdout) as readonly { action?: string }[]).filter(
        ({ action }) => action === 'forget',
      )
    }
    expect((await world.command('status', '-o', 'json')).stdout).not.toContain('Pipe/')
    expect(await lines('Pipe/orders')).toHaveLength(1)
    expect(await lines('Pipe/never')).toEqual([])
  })
})
