import { readdirSync, readFileSync, renameSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ALERT, mountSecrets, runArgs } from '../support/manifests.ts'
import { resourcesOf, startProgram, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'
import { alertName, alertText, commitName, createLinkPublisher } from './support/git-sync-trees.ts'
import { startPlatform } from '../support/platform.ts'

const SWAPS = 40
/** Between two walks, on a machine with nothing else to do. */
const WALK_MS = 1_000

/** Watches of another process, and its open files that are not sockets: connections come and go. */
function heldBy(pid: number) {
  let watches = 0
  let files = 0
  for (const name of readdirSync(`/proc/${pid}/fdinfo`)) {
    const text = readFileSync(`/proc/${pid}/fdinfo/${name}`, 'utf8')
    watches += text.split('\n').filter((line) => line.startsWith('inotify ')).length
    if (/^pos:\s*\d+/m.test(text) && text.includes('inotify')) files += 1
  }
  return { watches, files }
}

test(`the daemon acts on each of ${SWAPS} git-sync swaps once, at its revision`, async () => {
  using workspace = createWorkspace()
  mountSecrets(workspace)
  const alerts = Array.from({ length: SWAPS + 1 }, (_, n) => ({ ...ALERT, id: `alert-${n}` }))
  await using platform = await startPlatform({ fixture: { alerts } })
  const publisher = createLinkPublisher(workspace.dir)
  publisher.publish(0)
  await using program = startProgram(
    runArgs({ ...workspace, manifests: publisher.root }, platform.url, ['--log-level', 'debug']),
  )
  const url = await urlOf(program)
  const seen = async (generation: number) => {
    const overview = (await (await fetch(`${url}/api/v1/overview`)).json()) as { revision?: { id: string } }
    if (overview.revision?.id !== commitName(generation)) return false
    const items = await resourcesOf(url)
    expect(items.length).toBe(generation + 1)
    return items.every(({ status }) => status === 'Ready')
  }
  await until('the first tree', () => seen(0))
  const before = heldBy(program.pid)
  for (let generation = 1; generation <= SWAPS; generation += 1) {
    publisher.publish(generation)
    await until(`swap ${generation}`, () => seen(generation))
  }
  expect(heldBy(program.pid)).toEqual(before)
  expect(before.watches).toBeGreaterThan(0)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  expect(metrics).toMatch(/^pipewright_source_missed_changes_total 0$/m)
  expect(metrics).toContain(`pipewright_source_info{revision="${commitName(SWAPS)}"`)
  for (let n = 0; n <= SWAPS; n += 1) {
    const key = `Alert/${alertName(n)}`
    const told = await fetch(`${url}/api/v1/history?key=${encodeURIComponent(key)}`)
    const { items } = (await told.json()) as { items: readonly { readonly revision: string }[] }
    expect([key, items.at(-1)?.revision]).toEqual([key, commitName(n)])
  }
  for (const { key, manifestRevision: revision } of await resourcesOf(url)) {
    expect([key, revision]).toEqual([key, commitName(Number(key.slice(-4)))])
  }
  program.signal('SIGTERM')
  expect(await program.ended).toBe(0)

  const log = program.log()
  // A busy machine may tell of a swap twice.
  const readings = log.filter(({ msg, changed }) => msg === 'Manifests read' && changed !== 0)
  expect(readings.map(({ revision, changed }) => [revision, changed])).toEqual(
    Array.from({ length: SWAPS + 1 }, (_, n) => [commitName(n), 1]),
  )
  // Each alert was acted on for the first time at the revision that brought it.
  for (let n = 0; n <= SWAPS; n += 1) {
    const first = log.find(
      (line) => line['key'] === `Alert/${alertName(n)}` && line['revision'] !== undefined,
    )
    expect([n, first?.['revision']]).toEqual([n, commitName(n)])
  }
  expect(program.stderr()).toBe('')
})

test('a change is counted as missed when only a walk found it, and not when an event came', async () => {
  using workspace = createWorkspace()
  mountSecrets(workspace)
  const alerts = ['one', 'two'].map((id) => ({ ...ALERT, id }))
  await using platform = await startPlatform({ fixture: { alerts } })
  workspace.write('parent/manifests/a.yaml', alertText('a', 'one'))
  const manifests = workspace.path('parent', 'manifests')
  await using program = startProgram(runArgs({ ...workspace, manifests }, platform.url))
  const url = await urlOf(program)
  const missed = async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text()
    return Number(/^pipewright_source_missed_changes_total (\d+)$/m.exec(metrics)?.[1])
  }
  const count = (wanted: number) =>
    until(`${wanted} resources`, async () => (await resourcesOf(url)).length === wanted)
  await count(1)
  workspace.write('parent/manifests/b.yaml', alertText('b', 'two'))
  await count(2)
  expect(await missed()).toBe(0)
  const isLost = async () => {
    const overview = (await (await fetch(`${url}/api/v1/overview`)).json()) as { sourceProblem?: unknown }
    return typeof overview.sourceProblem === 'string'
  }
  // The kernel tells nobody that the parent of a directory was renamed. Where an event was heard in the same moment, as it
  // may be on a busy machine, nobody is blamed: then once more, when what was heard of the return has been walked.
  for (let missedOnes = 0; missedOnes === 0; missedOnes = await missed()) {
    await setTimeout(3 * WALK_MS)
    renameSync(workspace.path('parent'), workspace.path('away'))
    await until('a walk to find it', isLost)
    expect((await resourcesOf(url)).length).toBe(2)
    renameSync(workspace.path('away'), workspace.path('parent'))
    await until('its return', async () => !(await isLost()))
  }
  expect(await missed()).toBe(1)
})
