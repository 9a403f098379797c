import { startApiModel } from '../../kubernetes/api-model.ts'
import type { OverviewReply } from '../../../src/server/api/overview.ts'
import { startCountingPlatform } from '../../kubernetes/counting-platform.ts'
import { acts, commandFlagsOf, passes, startPod, writeCommon } from '../../kubernetes/pods.ts'
import { KAFKA_PASSWORD, pipeManifest, SERVICE } from '../../support/manifests.ts'
import { resourcesOf, runProgram, urlOf } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import { endOf } from './end-of.ts'
import { createWorkspace, type Workspace } from '../../support/workspace.ts'

/* Stories of two processes of which one acts. Each gives what it found broken, in words; nothing: all is well. */

/** A renewal has a fifth of it, on a machine that has more to do. */
const LEASE_MS = 6_000

async function startWorld(stack: AsyncDisposableStack) {
  const workspace = stack.use(createWorkspace())
  const api = stack.use(await startApiModel())
  const platform = stack.use(await startCountingPlatform(() => 'answered'))
  writeCommon(workspace)
  const options = { workspace, api, platform: platform.url, leaseMs: LEASE_MS }
  return { workspace, api, platform, options }
}

/** One stands still on its way to a create, another one takes over, a person forces a second attempt there, and then it wakes up. */
export async function sleeper(failpoint: string): Promise<readonly string[]> {
  await using stack = new AsyncDisposableStack()
  const { workspace, platform, options } = await startWorld(stack)
  const one = await startPod('one', options, stack, { PIPEWRIGHT_FAILPOINT: `${failpoint}=pause` })
  await acts(one)
  const two = await startPod('two', options, stack)
  await until('it to stand by', () => two.program.stdout().includes('standing by'))
  workspace.write('manifests/orders.yaml', pipeManifest('orders'))
  await until('it to stand still', () => one.program.stderr().includes(failpoint))
  await acts(two)
  if (failpoint !== 'before-intent') {
    const command = ['resolve', 'Pipe/orders', '--retry', '--force', ...commandFlagsOf(options)]
    const env = { KUBECONFIG: workspace.path('two.kubeconfig') }
    const resolved = await runProgram(command, { env })
    if (resolved.code !== 0) return [`the second attempt was refused: ${resolved.stderr}`]
  }
  await until('the second attempt', () => platform.creates() === 1)
  one.program.signal('SIGCONT')
  const code = await endOf(one.program)
  return [
    ...(code === 1 ? [] : [`it ended with ${code}`]),
    ...(platform.creates() === 1 ? [] : [`law 1: ${platform.creates()} creates`]),
  ]
}

function endpointManifest(keys: readonly string[]): string {
  return `apiVersion: pipewright/v1
kind: QueryEndpoint
metadata: {name: analytics}
spec: {service: analytics, roles: [sql_console_read_only], openApiKeys: [${keys.join(', ')}]}
`
}

function keysOf(endpoint: Readonly<Record<string, unknown>> | undefined): string {
  return JSON.stringify(endpoint?.['openApiKeys'])
}

/** An upsert is on its way for so long that another process takes over and applies another one before it arrives. */
export async function lateUpsert(): Promise<readonly string[]> {
  await using stack = new AsyncDisposableStack()
  const { workspace, platform, options: usual } = await startWorld(stack)
  // The late one arrives before that.
  const options = { ...usual, settings: { 'request-timeout': '20s', 'shutdown-grace': '25s' } }
  const keysThere = () => keysOf(platform.endpoints.at(-1))
  workspace.write('manifests/endpoint.yaml', endpointManifest(['key-1']))
  const one = await startPod('one', options, stack)
  await until('the first upsert', () => platform.endpoints.length >= 1)
  const two = await startPod('two', options, stack)
  await until('it to stand by', () => two.program.stdout().includes('standing by'))
  // Its second upsert is on its way, and stays there.
  one.toPlatform.set('silent')
  workspace.write('manifests/endpoint.yaml', endpointManifest(['key-1', 'key-2']))
  await until('it to be sent', () => one.toPlatform.held().includes('key-2'))
  one.program.signal('SIGSTOP')
  await acts(two)
  workspace.write('manifests/endpoint.yaml', endpointManifest(['key-1', 'key-3']))
  await until('the endpoint as it is to be', () => keysThere() === '["key-1","key-3"]')
  const before = platform.endpoints.length
  one.toPlatform.set('open')
  await until('the late one', () =>
    platform.endpoints.slice(before).some((each) => keysOf(each) === '["key-1","key-2"]'),
  )
  try {
    await until('it to be applied once more', () => keysThere() === '["key-1","key-3"]')
    return []
  } catch {
    return [`a late request gave access back: ${keysThere()}`]
  } finally {
    one.program.signal('SIGKILL')
  }
}

/** One process renames a pipe, with another body, and takes a key away; another one takes over whose checkout is two commits behind. */
export async function olderCheckout(): Promise<readonly string[]> {
  await using stack = new AsyncDisposableStack()
  const { workspace, platform, options } = await startWorld(stack)
  const commit = (folder: string, files: Readonly<Record<string, string>>) => {
    for (const [file, text] of Object.entries(files)) workspace.write(`${folder}/${file}`, text)
  }
  const first = {
    'service.yaml': SERVICE,
    'orders.yaml': pipeManifest('orders'),
    'endpoint.yaml': endpointManifest(['key-1', 'key-2']),
  }
  const last = {
    'orders.yaml': '---\n',
    'renamed.yaml': pipeManifest('orders-eu', { replicas: 2, policy: { replaces: 'Pipe/orders' } }),
    'endpoint.yaml': endpointManifest(['key-1']),
  }
  commit('ahead', first)
  commit('behind', first)
  const from = (folder: string) => ({ ...options, settings: { manifests: workspace.path(folder) } })
  const one = await startPod('one', from('ahead'), stack)
  await until('the first commit', () => platform.creates() === 1 && platform.endpoints.length >= 1)
  commit('ahead', last)
  await until('the last commit', () => keysOf(platform.endpoints.at(-1)) === '["key-1"]')
  await until('the rename', async () => {
    const all = await resourcesOf(await urlOf(one.program))
    return all.some(({ key, pipeId }) => key === 'Pipe/orders-eu' && pipeId !== undefined)
  })
  const [creates, upserts] = [platform.creates(), platform.endpoints.length]
  one.program.signal('SIGKILL')
  const two = await startPod('two', from('behind'), stack)
  await acts(two)
  const reasons = async () => (await resourcesOf(await urlOf(two.program))).map(({ reason }) => reason)
  const isSaid = await until('it to say so', async () => (await reasons()).includes('NotLeading')).catch(
    () => false,
  )
  // Longer than a late request may take, after which endpoints are applied once more.
  await passes(3_000)
  commit('behind', last)
  await until('the last commit here', async () => {
    const all = await reasons()
    return all.length > 0 && !all.includes('NotLeading') && platform.endpoints.length > upserts
  })
  const given = platform.endpoints.slice(upserts).filter((each) => keysOf(each) !== '["key-1"]')
  return [
    ...(isSaid ? [] : ['it does not say that it waits']),
    ...(platform.creates() === creates
      ? []
      : [`law 1: ${platform.creates() - creates} creates of an older checkout`]),
    ...(given.length === 0 ? [] : ['an older checkout gave access back']),
  ]
}

/** Of manifests: what was acted on, and what is older or newer. */
const FOLDERS = ['ahead', 'behind'] as const

/** A process has made the pipe that one of two folders asks for, and has ended. @param write writes further manifests before */
async function startAhead(stack: AsyncDisposableStack, write: (workspace: Workspace) => void) {
  const world = await startWorld(stack)
  const { workspace, platform, options } = world
  for (const folder of FOLDERS) workspace.write(`${folder}/service.yaml`, SERVICE)
  workspace.write('ahead/orders.yaml', pipeManifest('orders'))
  write(workspace)
  const start = (name: string, folder: (typeof FOLDERS)[number]) =>
    startPod(name, { ...options, settings: { manifests: workspace.path(folder) } }, stack)
  const { program } = await start('one', 'ahead')
  await until('the first pipe', () => platform.creates() === 1)
  program.signal('SIGTERM')
  await program.ended
  return { ...world, start }
}

/** One process ends in good order; the next one starts with another checkout, and the one after that with the same. @returns what both say of it */
export async function startsElsewhere(): Promise<readonly unknown[]> {
  await using stack = new AsyncDisposableStack()
  const { platform, options, start } = await startAhead(stack, (workspace) =>
    workspace.write('behind/late.yaml', pipeManifest('late')),
  )
  const records = () => [...options.api.objects()].filter(([path]) => path.includes('/pipewrightrecords/'))
  const said: unknown[] = []
  for (const [name, folder] of [
    ['two', 'behind'],
    ['three', 'ahead'],
  ] as const) {
    const { program } = await start(name, folder)
    const url = await urlOf(program)
    await until('the manifests to be read', () => program.log().some(({ msg }) => msg === 'Manifests read'))
    const { olderThan } = (await (await fetch(`${url}/api/v1/overview`)).json()) as OverviewReply // of our API
    const lines = program.log().filter(({ msg }) => msg === 'Leadership changed')
    said.push({
      shown: olderThan !== undefined,
      lines: lines.map((line) => [line['level'], line['olderThan'] !== undefined]),
    })
    if (olderThan !== undefined) {
      const late = async () => (await resourcesOf(url)).find(({ key }) => key === 'Pipe/late')?.reason
      await until('the create to be held', async () => (await late()) === 'NotLeading')
    }
    program.signal('SIGTERM')
    await program.ended
  }
  // What is known not to go out is not begun.
  const late = records().filter(
    ([path, object]) => path.includes('late') && JSON.stringify(object['record']).includes('intent'),
  )
  said.push({ creates: platform.creates(), begun: late.length })
  return said
}

/** Why a process may create what one with an older checkout has held back. */
export type Released = 'another one stood by' | 'another one is started' | 'a person accepts the manifests'

/** One acts on an older checkout and holds a create back; then it may be made. */
export async function heldByOlder(released: Released): Promise<readonly string[]> {
  await using stack = new AsyncDisposableStack()
  const { workspace, platform, start } = await startAhead(stack, ({ write }) => {
    const late = pipeManifest('late').replace('name: kafka,', 'name: kafka-late,')
    for (const folder of FOLDERS) write(`${folder}/late.yaml`, late)
  })
  workspace.write('secrets/kafka-late/password', KAFKA_PASSWORD)
  const two = await start('two', 'behind')
  const url = await urlOf(two.program)
  const late = async () => (await resourcesOf(url)).find(({ key }) => key === 'Pipe/late')?.reason
  await until('the create to be held', async () => (await late()) === 'NotLeading')
  if (released === 'a person accepts the manifests') two.program.signal('SIGHUP')
  else {
    const three = released === 'another one stood by' ? await start('three', 'ahead') : undefined
    if (three !== undefined)
      await until('it to stand by', () => three.program.stdout().includes('standing by'))
    two.program.signal('SIGTERM')
    await two.program.ended
    await acts(three ?? (await start('three', 'ahead')))
  }
  const isMade = await until('the second pipe', () => platform.creates() === 2).catch(() => false)
  return isMade ? [] : ['what an older checkout held back is held back still']
}

/** A create is held back for another checkout, and before that is recorded the manifests are read as another revision: the wait is over. */
export async function heldTooLate(): Promise<readonly string[]> {
  await using stack = new AsyncDisposableStack()
  const { api, workspace, platform, start } = await startAhead(stack, ({ write }) =>
    write('behind/late.yaml', pipeManifest('late')),
  )
  let isBusy = true
  let refused = 0
  api.interfere(({ method, path }) => {
    if (!isBusy || method !== 'POST' || !path.endsWith('/pipewrightrecords')) return undefined
    refused += 1
    return { status: 429, retryAfter: 1 }
  })
  const { program } = await start('two', 'behind')
  await until('what is held back to be recorded', () => refused > 0)
  const readings = () => program.log().filter(({ msg }) => msg === 'Manifests read').length
  const before = readings()
  workspace.write('behind/later.yaml', pipeManifest('later'))
  await until('the manifests to be read anew', () => readings() > before)
  isBusy = false
  const isMade = await until('both pipes', () => platform.creates() === 3).catch(() => false)
  return isMade ? [] : [`what was held back is held back still: ${platform.creates()} creates`]
}
