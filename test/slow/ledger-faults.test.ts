import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, test } from 'vitest'
import { resourcesOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import type { Scenario } from './scenario.ts'
import { createScenario } from './scenario.ts'

const A_WHILE_MS = 3_000

/** Some pipes, created and at rest; the ledger is closed. */
async function withPipes(scenario: Scenario, names: readonly string[]): Promise<void> {
  for (const name of names) scenario.writePipe(name)
  const live = await scenario.start()
  for (const name of names) await live.says(`Pipe/${name}`, 'Ready')
  await live.stop()
}

/** A pipe created before the copy, and one after it. */
async function restored(scenario: Scenario): Promise<void> {
  await withPipes(scenario, ['early'])
  copyFileSync(scenario.ledger, `${scenario.ledger}.backup`)
  await withPipes(scenario, ['early', 'late'])
  copyFileSync(`${scenario.ledger}.backup`, scenario.ledger)
}

describe.concurrent('two daemons on one ledger', () => {
  test('the second is refused at once with one clear line, and the first does not notice', async ({
    expect,
  }) => {
    await using scenario = await createScenario()
    scenario.writePipe('orders')
    const first = await scenario.start()
    await first.says('Pipe/orders', 'Ready')
    for (const command of [['run', '--listen', '127.0.0.1:0'], ['apply']]) {
      const second = await scenario.run(command)
      expect(second.code).toBe(1)
      expect(second.stdout).toBe('')
      expect(second.stderr.trim().split('\n')).toHaveLength(1)
      expect(second.stderr).toContain(`held by another pipewright (process ${first.program.pid} on `)
    }
    scenario.writePipe('refunds')
    await first.says('Pipe/refunds', 'Ready')
    expect(scenario.creates().toSorted()).toEqual(['orders', 'refunds'])
  })

  test('of five that start together on no ledger yet, one runs, and each pipe is created once', async ({
    expect,
  }) => {
    await using scenario = await createScenario()
    for (const name of ['a', 'b', 'c']) scenario.writePipe(name)
    const runs = await Promise.allSettled(Array.from({ length: 5 }, () => scenario.start()))
    const running = runs.flatMap((run) => (run.status === 'fulfilled' ? [run.value] : []))
    expect(running).toHaveLength(1)
    for (const name of ['a', 'b', 'c']) await running[0]?.says(`Pipe/${name}`, 'Ready')
    await pause(A_WHILE_MS)
    expect(scenario.creates().toSorted()).toEqual(['a', 'b', 'c'])
  })

  test('after a kill -9 the next one starts at once', async ({ expect }) => {
    await using scenario = await createScenario()
    scenario.writePipe('orders')
    const first = await scenario.start()
    await first.says('Pipe/orders', 'Ready')
    first.program.signal('SIGKILL')
    await first.program.ended
    const second = await scenario.start()
    await second.says('Pipe/orders', 'Ready')
    expect(scenario.creates()).toEqual(['orders'])
  })
})

describe.concurrent('a ledger that was put back from an old copy', () => {
  test('knows nothing of later pipes, and nobody can tell: without a Lock they are created again', async ({
    expect,
  }) => {
    await using scenario = await createScenario()
    await restored(scenario)
    const live = await scenario.start()
    await live.says('Pipe/early', 'Ready')
    await live.says('Pipe/late', 'Ready')
    // Not a promise but a limit: docs/guarantees.md says so. The copy is a ledger like any other.
    expect(scenario.creates()).toEqual(['early', 'late', 'late'])
  })

  test('with the Lock of later beside the manifests, it takes the later pipes over: no POST', async ({
    expect,
  }) => {
    await using scenario = await createScenario()
    await withPipes(scenario, ['early'])
    copyFileSync(scenario.ledger, `${scenario.ledger}.backup`)
    await withPipes(scenario, ['early', 'late'])
    const lock = await scenario.run(['lock'])
    expect(lock.code).toBe(0)
    scenario.workspace.write('manifests/lock.yaml', lock.stdout)
    copyFileSync(`${scenario.ledger}.backup`, scenario.ledger)
    const live = await scenario.start()
    const late = await live.says('Pipe/late', 'Ready')
    expect(late.pipeId).toBe(scenario.platform.pipes().find(({ name }) => name === 'late')?.id)
    await live.says('Pipe/early', 'Ready')
    expect(scenario.creates()).toEqual(['early', 'late'])
  })

  test('that was made in the middle of a create says OutcomeUnknown, not New', async ({ expect }) => {
    await using scenario = await createScenario()
    const { platform } = scenario
    scenario.writePipe('orders')
    platform.faults.add({ operation: 'createPipe', fault: { type: 'latency', ms: 4_000 } })
    const first = await scenario.start()
    await until('the create to arrive', () => scenario.creates().length === 1)
    // Between two writes the file is all there is: nothing lies in a log beside it.
    copyFileSync(scenario.ledger, `${scenario.ledger}.backup`)
    await first.says('Pipe/orders', 'Ready')
    await first.stop()
    copyFileSync(`${scenario.ledger}.backup`, scenario.ledger)
    const second = await scenario.start()
    await second.says('Pipe/orders', 'OutcomeUnknown')
    await pause(A_WHILE_MS)
    expect(scenario.creates()).toEqual(['orders'])
  })

  test('while the daemon runs stops it from creating anything: what it writes would be lost', async ({
    expect,
  }) => {
    await using scenario = await createScenario()
    scenario.writePipe('orders')
    const live = await scenario.start()
    await live.says('Pipe/orders', 'Ready')
    copyFileSync(scenario.ledger, `${scenario.ledger}.backup`)
    rmSync(scenario.ledger)
    copyFileSync(`${scenario.ledger}.backup`, scenario.ledger)
    scenario.writePipe('refunds')
    const failed = await live.says('Pipe/refunds', 'LedgerFailed')
    expect(failed.message).toContain('was removed or replaced while in use')
    await pause(A_WHILE_MS)
    expect(scenario.creates()).toEqual(['orders'])
  })
})

const DAMAGES = [
  {
    what: 'cut to half its size',
    harm: (file: string) => truncateSync(file, Math.floor(statSync(file).size / 2)),
    says: /is damaged|malformed|not a ledger/,
  },
  {
    what: 'cut to its first 100 bytes',
    harm: (file: string) => truncateSync(file, 100),
    says: /damaged|malformed/,
  },
  {
    what: 'cut to nothing',
    harm: (file: string) => truncateSync(file, 0),
    says: /is empty, and a ledger never is/,
  },
  {
    what: 'written over',
    harm: (file: string) => writeFileSync(file, 'not a database\n'.repeat(1_000)),
    says: /damaged|not a/,
  },
  {
    what: 'one page of noise in it',
    harm: (file: string): void => {
      const bytes = readFileSync(file)
      bytes.fill(0xa5, 4_096, 8_192)
      writeFileSync(file, bytes)
    },
    says: /damaged|malformed/,
  },
  {
    what: 'from a newer version',
    harm: (file: string): void => {
      using db = new DatabaseSync(file)
      db.exec('PRAGMA user_version = 99')
    },
    says: /is of version 99.*A newer Pipewright has used it/,
  },
  {
    what: 'another program’s database',
    harm: (file: string): void => {
      rmSync(file)
      using db = new DatabaseSync(file)
      db.exec('CREATE TABLE t (a)')
    },
    says: /not a ledger of Pipewright/,
  },
] as const

describe.concurrent('a ledger that cannot be used', () => {
  test.for(DAMAGES)(
    '$what: nothing starts, nothing is sent, and it stays as it is',
    async ({ harm, says }, { expect }) => {
      await using scenario = await createScenario()
      await withPipes(scenario, ['a', 'b', 'c'])
      harm(scenario.ledger)
      const before = readFileSync(scenario.ledger)
      const requests = scenario.platform.requests().length
      for (const command of [['run', '--listen', '127.0.0.1:0'], ['apply', '--yes'], ['plan'], ['status']]) {
        const { code, stderr } = await scenario.run(command)
        expect(stderr).toMatch(says)
        expect(stderr).toContain(scenario.ledger)
        expect(stderr).not.toContain('    at ')
        expect(code).toBe(1)
      }
      expect(readFileSync(scenario.ledger).equals(before)).toBe(true)
      expect(scenario.platform.requests()).toHaveLength(requests)
    },
  )

  test('gone, with --ledger-init=never: nothing starts, and no new one is made', async ({ expect }) => {
    await using scenario = await createScenario()
    await withPipes(scenario, ['a'])
    rmSync(scenario.ledger)
    const { code, stderr } = await scenario.run(['run', '--listen', '127.0.0.1:0', '--ledger-init', 'never'])
    expect(code).toBe(1)
    expect(stderr).toContain('--ledger-init')
    expect(existsSync(scenario.ledger)).toBe(false)
    expect(scenario.creates()).toEqual(['a'])
  })

  test('gone, with a Lock beside the manifests: it is made anew by taking over, not by creating', async ({
    expect,
  }) => {
    await using scenario = await createScenario()
    await withPipes(scenario, ['a', 'b'])
    const lock = await scenario.run(['lock'])
    scenario.workspace.write('manifests/lock.yaml', lock.stdout)
    rmSync(scenario.ledger)
    const live = await scenario.start()
    for (const name of ['a', 'b']) await live.says(`Pipe/${name}`, 'Ready')
    expect(scenario.creates().toSorted()).toEqual(['a', 'b'])
  })

  test('gone while the daemon runs: nothing is created, and the line says what to do', async ({ expect }) => {
    await using scenario = await createScenario()
    scenario.writePipe('orders')
    const live = await scenario.start()
    await live.says('Pipe/orders', 'Ready')
    renameSync(scenario.ledger, scenario.workspace.path('away.db'))
    scenario.writePipe('refunds')
    await live.says('Pipe/refunds', 'LedgerFailed')
    await pause(A_WHILE_MS)
    expect(scenario.creates()).toEqual(['orders'])
    const shown = await resourcesOf(live.url)
    expect(shown.find(({ key }) => key === 'Pipe/refunds')?.message).toContain('removed or replaced')
  })
})
