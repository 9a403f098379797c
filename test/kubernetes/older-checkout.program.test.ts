import { describe, expect, test } from 'vitest'
import type { OverviewReply } from '../../src/server/api/overview.ts'
import { KAFKA_PASSWORD, pipeManifest, SERVICE } from '../support/manifests.ts'
import { startPlatform } from '../support/platform.ts'
import { resourcesOf, stop, type Program, urlOf } from '../support/process.ts'
import { startHere } from '../support/program-here.ts'
import { until } from '../support/until.ts'
import type { Workspace } from '../support/workspace.ts'
import { modelForEach } from './model-for-each.ts'
import { commandFlagsOf, LEDGER, writeCommon } from './pods.ts'

/* One process after another in a cluster, all of them in this one, whose checkouts differ. */

const model = modelForEach()

/** Of manifests: what was acted on, and what is older or newer. */
const FOLDERS = ['ahead', 'behind'] as const
const LATE = pipeManifest('late').replace('name: kafka,', 'name: kafka-late,')

/** A process has made the pipe that one of two folders asks for, and has ended. @param write writes further manifests before */
async function startAhead(stack: AsyncDisposableStack, write: (workspace: Workspace) => void) {
  const { api, workspace, clock } = model
  const platform = stack.use(await startPlatform())
  writeCommon(workspace)
  for (const folder of FOLDERS) workspace.write(`${folder}/service.yaml`, SERVICE)
  workspace.write('ahead/orders.yaml', pipeManifest('orders'))
  write(workspace)
  const creates = () => platform.requests().filter(({ operation }) => operation === 'createPipe').length
  const start = (folder: (typeof FOLDERS)[number]) => {
    const run = { manifests: workspace.path(folder), listen: '127.0.0.1:0', 'lease-duration': '6s' }
    const flags = commandFlagsOf({ workspace, platform: platform.url }, run)
    return stack.use(startHere(['run', ...flags], clock))
  }
  const first = start('ahead')
  await until('the first pipe', () => creates() === 1)
  await stop(first)
  return { api, workspace, creates, start }
}

/** Waits for what would come by itself after five minutes. */
async function expectSoon(what: string, is: () => boolean): Promise<void> {
  const begun = model.clock.monotonic()
  await until(what, is)
  expect(model.clock.monotonic() - begun).toBeLessThan(3 * 60_000)
}

async function isHeld(program: Program): Promise<void> {
  const url = await urlOf(program)
  const reason = async () => (await resourcesOf(url)).find(({ key }) => key === 'Pipe/late')?.reason
  await until('the create to be held', async () => (await reason()) === 'NotLeading')
}

test('a process that starts with another checkout than was acted on says so, and begins no create; one with the same says nothing', async () => {
  await using stack = new AsyncDisposableStack()
  const { api, creates, start } = await startAhead(stack, ({ write }) =>
    write('behind/late.yaml', pipeManifest('late')),
  )
  for (const folder of ['behind', 'ahead'] as const) {
    const isOlder = folder === 'behind'
    const program = start(folder)
    const url = await urlOf(program)
    await until('the manifests to be read', () => program.log().some(({ msg }) => msg === 'Manifests read'))
    const { olderThan } = (await (await fetch(`${url}/api/v1/overview`)).json()) as OverviewReply // of our API
    expect(olderThan !== undefined).toBe(isOlder)
    const lines = program.log().filter(({ msg }) => msg === 'Leadership changed')
    const said = lines.map((line) => [line['level'], line['olderThan'] !== undefined])
    expect(said).toEqual([['info', false], ...(isOlder ? [['warn', true]] : [])])
    if (isOlder) await isHeld(program)
    await stop(program)
  }
  expect(creates()).toBe(1)
  // What is known not to go out is not begun.
  const late = [...api.objects()].filter(([path]) => /pipewrightrecords.*late/.test(path))
  expect(JSON.stringify(late)).not.toContain('"intent"')
})

describe('what waited for another checkout is made at once where', () => {
  test.each(['another one stood by', 'another one is started', 'a person accepts the manifests'])(
    '%s',
    async (released) => {
      await using stack = new AsyncDisposableStack()
      const { workspace, creates, start } = await startAhead(stack, ({ write }) => {
        for (const folder of FOLDERS) write(`${folder}/late.yaml`, LATE)
      })
      workspace.write('secrets/kafka-late/password', KAFKA_PASSWORD)
      const two = start('behind')
      await isHeld(two)
      if (released === 'a person accepts the manifests') two.signal('SIGHUP')
      else {
        const three = released === 'another one stood by' ? start('ahead') : undefined
        if (three) await until('it to stand by', () => three.stdout().includes('standing by'))
        await stop(two)
        if (!three) start('ahead')
      }
      await expectSoon('the second pipe', () => creates() === 2)
    },
  )

  test('that is recorded after the wait is over', async () => {
    await using stack = new AsyncDisposableStack()
    const { api, workspace, creates, start } = await startAhead(stack, ({ write }) =>
      write('behind/late.yaml', pipeManifest('late')),
    )
    let isBusy = true
    let refused = 0
    api.interfere(({ method, path }) => {
      if (!isBusy || method !== 'POST' || !path.endsWith('/pipewrightrecords')) return undefined
      refused += 1
      return { status: 429, retryAfter: 1 }
    })
    const program = start('behind')
    await until('what is held back to be recorded', () => refused > 0)
    const readings = () => program.log().filter(({ msg }) => msg === 'Manifests read').length
    const before = readings()
    workspace.write('behind/later.yaml', pipeManifest('later'))
    await until('the manifests to be read anew', () => readings() > before)
    isBusy = false
    await expectSoon('both pipes', () => creates() === 3)
  })
})

test('a record that cannot be read keeps no other pipe from being created, and a process that takes over refuses it', async () => {
  await using stack = new AsyncDisposableStack()
  const { api, workspace, creates, start } = await startAhead(stack, () => undefined)
  const leader = start('ahead')
  await until('it to lead', () => leader.log().some(({ msg }) => msg === 'Leadership changed'))
  await until('it to read', () => leader.log().some(({ msg }) => msg === 'Manifests read'))
  const standby = start('ahead')
  await until('the other to stand by', () => standby.stdout().includes('standing by'))
  const path = `/apis/pipewright.dev/v1/namespaces/default/pipewrightrecords/${LEDGER}.pipe.orders`
  const before = api.objects().get(path) as { readonly version: number }
  const headers = { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ ...before, version: before.version + 1, record: '{}' })
  await fetch(`${api.url}${path}`, { method: 'PUT', headers, body })
  workspace.write('ahead/b.yaml', pipeManifest('b'))
  await until('the second pipe', () => creates() === 2)
  leader.signal('SIGTERM')
  expect(await standby.ended).toBe(1)
  expect(standby.stderr()).toContain('the record of Pipe/orders in the ledger cannot be read')
})
