import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { GOOD, HELMS, podsIn, renderValues, tryValues } from './support/chart.ts'
import { layOutImage, type ImageRoot } from './support/image-root.ts'
import { startPodWorld } from './support/runbook-pod.ts'
import { allWell, asWritten, backupLine, ends, typed } from './support/runbook-steps.ts'
import { folderForFile } from '../support/folders.ts'

/* An upgrade, one that fails, and the way back: the pods that the chart makes, one after the other on one ledger and one platform. */

const folder = folderForFile()
let older: ImageRoot
let newer: ImageRoot

beforeAll(async () => {
  chmodSync(folder, 0o755)
  older = await layOutImage()
  newer = await layOutImage()
  addMigration(join(newer.root, 'app/dist/pipewright.js'))
}, 900_000)

/** A program of the next version: its ledger has one table more. */
function addMigration(program: string): void {
  const last = /(CREATE TABLE IF NOT EXISTS checked [^`]*`)/g
  const code = readFileSync(program, 'utf8')
  if (code.match(last)?.length !== 1) throw new Error('the last migration is another one')
  writeFileSync(program, code.replace(last, '$1, `CREATE TABLE later (name TEXT PRIMARY KEY) STRICT;`'))
}

const UPGRADE = {
  image: { repository: 'registry.example.com/pipewright', tag: 'next' },
  settings: { 'api-budget': '1000/1s', interval: '10m', 'max-creates': 30 },
}

describe.each(HELMS)('with %s', (helm) => {
  test('an upgrade changes what runs, and nothing of where the ledger is', async () => {
    const [before] = podsIn(await renderValues(folder, GOOD, { helm }))
    const [after] = podsIn(await renderValues(folder, { ...GOOD, ...UPGRADE }, { helm }))
    expect(after?.containers[0]?.image).toBe('registry.example.com/pipewright:next')
    expect(after).not.toEqual(before)
    expect(after?.volumes).toEqual(before?.volumes)
    expect(after?.containers[0]?.volumeMounts).toEqual(before?.containers[0]?.volumeMounts)
  })

  test('a value of no form fails before anything is changed', async () => {
    const { code, stderr } = await tryValues(folder, { ...GOOD, settings: { interval: 'soon' } }, { helm })
    expect(code).toBe(1)
    expect(stderr).toContain('interval')
  })
})

test('no pipe is made twice: an upgrade in the middle of a create, one that fails, a rollback, the backup, and forward again', async () => {
  await using world = await startPodWorld(older, folder)
  const upgraded = await world.podWith(UPGRADE)
  const failing = await world.podWith({
    ...UPGRADE,
    extraEnv: [{ name: 'NODE_OPTIONS', value: '--no-such-flag' }],
  })
  const ledger = () => readFileSync(join(world.ledger, 'ledger.db')).toString('base64')
  const wanted = { orders: '', refunds: '' }
  world.commit(wanted)
  {
    await using first = await world.startDaemon()
    await allWell(first, 2)
    expect(await typed(first, backupLine())).toMatchObject({ code: 0 })
    const rules = [{ operation: 'createPipe', subject: 'during', fault: { type: 'latency', ms: 5_000 } }]
    await world.ask('/-/sandbox/faults', { rules })
    world.commit({ ...wanted, during: '' })
    await until('the create to be on its way', async () => (await world.creates()) === 3)
    // Should the next pod ever come too early, it finds the ledger held.
    const { code, said } = await ends(world, upgraded, newer.root)
    expect([code, said.includes('another process owns the ledger')]).toEqual([1, true])
    await first.signal('SIGTERM')
    expect(await first.ended).toBe(0)
  }

  let lock: string
  {
    await using second = await world.startDaemon(upgraded, newer.root)
    await allWell(second, 3)
    world.commit({ ...wanted, during: '', after: '' })
    await allWell(second, 4)
    lock = (await second.exec(['pipewright', 'lock'])).stdout
    await second.signal('SIGTERM')
    expect(await second.ended).toBe(0)
  }
  expect(await world.creates()).toBe(4)

  const atUpgrade = ledger()
  const failed = await ends(world, failing, newer.root)
  expect(failed).toMatchObject({
    code: 9,
    said: expect.stringContaining('not allowed in NODE_OPTIONS') as string,
  })
  const back = await ends(world)
  expect(back).toMatchObject({
    code: 1,
    said: expect.stringMatching(/has version \d+, .* A newer Pipewright has used the ledger/) as string,
  })
  expect(ledger()).toBe(atUpgrade)

  // As docs/how-to/upgrade.md says it of a ledger that the newer one has changed.
  world.commit({ ...wanted, during: '', after: '' }, { 'pipes.lock.yaml': lock })
  {
    await using pod = await world.startDiagnostic()
    const saved = join(world.ledger, 'backup.db')
    const put = await pod.exec(['sh', '-c', 'cat > /var/lib/pipewright/restored.db'], saved)
    expect([put.code, (await asWritten(pod, 'mv restored.db')).code]).toEqual([0, 0])
    const planned = await typed(pod, 'pipewright plan')
    expect(planned.said).toContain('2 to adopt')
    expect(planned.said).not.toContain('to create')
  }
  for (const [pod, { root }] of [[world.pod, older] as const, [upgraded, newer] as const]) {
    await using daemon = await world.startDaemon(pod, root)
    await allWell(daemon, 4)
    await daemon.signal('SIGTERM')
    expect(await daemon.ended).toBe(0)
  }
  expect(await world.creates()).toBe(4)
})
