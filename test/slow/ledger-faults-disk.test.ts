import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, test } from 'vitest'
import { createScenario } from './scenario.ts'
import { mayMount, mountDisk } from './support/disk.ts'

/* A real small disk, full or read-only. It takes the right to mount: elsewhere these are skipped. */

const A_WHILE_MS = 3_000

describe.skipIf(!mayMount())('a disk of its own for the ledger', () => {
  test('that is full lets nothing be created, and everything once, when there is room again', async ({
    expect,
  }) => {
    await using scenario = await createScenario()
    const { workspace, platform } = scenario
    using disk = mountDisk(workspace.path('disk'), '8m')
    const ledger = ['--ledger', `sqlite:${join(disk.folder, 'ledger.db')}`]
    scenario.writePipe('early')
    const live = await scenario.start(ledger)
    await live.says('Pipe/early', 'Ready')
    // What is in the log already is written over, so some writes still find room.
    disk.fill()
    const names = Array.from({ length: 20 }, (_, index) => `late-${index}`)
    for (const name of names) scenario.writePipe(name)
    await live.says('Pipe/late-19', 'LedgerFailed')
    await pause(A_WHILE_MS)
    const creates = scenario.creates()
    expect(new Set(creates).size).toBe(creates.length)
    expect(platform.pipes()).toHaveLength(creates.length)
    expect(creates.length).toBeLessThan(21)
    // No create goes out if its outcome would have no room.
    const shown = await Promise.all(names.map((name) => live.resource(`Pipe/${name}`)))
    expect(shown.filter((one) => one?.reason === 'OutcomeUnsaved')).toEqual([])

    disk.free()
    for (const name of names) await live.says(`Pipe/${name}`, 'Ready')
    expect(scenario.creates().toSorted()).toEqual(['early', ...names].toSorted())
    expect(live.program.log().some(({ msg }) => msg === 'Internal error')).toBe(false)
    await live.stop()
  })

  test('that is full from the start is an error that names the file', async ({ expect }) => {
    await using scenario = await createScenario()
    const { workspace, platform } = scenario
    using disk = mountDisk(workspace.path('disk'), '256k')
    disk.fill()
    scenario.writePipe('orders')
    const file = join(disk.folder, 'ledger.db')
    const { code, stderr } = await scenario.run(
      ['run', '--listen', '127.0.0.1:0'],
      ['--ledger', `sqlite:${file}`],
    )
    expect(code).toBe(1)
    expect(stderr).toContain(file)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(platform.requests()).toEqual([])
  })

  test('that is read-only stops the daemon at its start, and can still be looked at', async ({ expect }) => {
    await using scenario = await createScenario()
    const { workspace, platform } = scenario
    scenario.writePipe('orders')
    const live = await scenario.start()
    const { pipeId } = await live.says('Pipe/orders', 'Ready')
    await live.stop()
    using disk = mountDisk(workspace.path('disk'), '8m')
    const file = join(disk.folder, 'ledger.db')
    cpSync(scenario.ledger, file)
    disk.remount('ro')
    const requests = platform.requests().length
    for (const command of [
      ['run', '--listen', '127.0.0.1:0'],
      ['apply', '--yes'],
    ]) {
      const { code, stderr } = await scenario.run(command, ['--ledger', `sqlite:${file}`])
      expect(code).toBe(1)
      expect(stderr).toContain(file)
      expect(stderr.trim().split('\n')).toHaveLength(1)
    }
    expect(platform.requests()).toHaveLength(requests)
    const { code, stdout } = await scenario.run(['status', 'Pipe/orders'], ['--ledger', `sqlite:${file}`])
    expect(stdout).toContain(pipeId)
    expect(code).toBe(0)
  })
})
