import { MIGRATIONS } from '../../src/ledger/table-schema.ts'
import { parseReason } from '../../src/plan/reason.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { cpSync, existsSync, renameSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { type Sandbox } from '../../src/sandbox/sandbox-server.ts'
import { readFixture } from '../../src/sandbox/fixture.ts'
import { platformArgs, runArgs } from '../support/manifests.ts'
import { runHere } from '../support/command.ts'
import { resourcesOf, ROOT, startProgram, stop, type Program, type Shown, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { creates } from './support/creates.ts'
import { startPlatform } from '../support/platform.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures/releases')

const RELEASES = readdirSync(FIXTURES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

interface Expected {
  readonly key: string
  readonly status: string
  readonly reason: string
  readonly pipeId?: string
}

/** A copy of what a release left behind, and a platform with its pipes. */
async function after(release: string) {
  await using stack = new AsyncDisposableStack()
  const workspace = stack.use(createWorkspace())
  cpSync(join(FIXTURES, release), workspace.dir, { recursive: true })
  moveCredentials(workspace)
  const fixture = await readFixture(workspace.path('platform.json'), DEFAULT)
  const platform = stack.use(await startPlatform({ fixture: { ...fixture, times: { provisioningMs: 0 } } }))
  const expected = JSON.parse(readFileSync(workspace.path('expected.json'), 'utf8')) as readonly Expected[] // made by make.ts
  const kept = stack.move()
  return { workspace, platform, expected, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** As CHANGELOG.md asks for it: until 0.1.0 the platform's credentials were among the secrets of sources. */
function moveCredentials({ path }: Workspace): void {
  for (const name of ['analytics-api', 'alerts']) {
    if (!existsSync(path('credentials', name))) renameSync(path('secrets', name), path('credentials', name))
  }
}

/** The same, once the current code's daemon has run on it. */
async function broughtUpToDate(release: string): ReturnType<typeof after> {
  const given = await after(release)
  const { workspace, platform, expected } = given
  await using program = startProgram(runArgs(workspace, platform.url))
  await recognised(program, platform, expected)
  await stop(program)
  return given
}

/** The bytes of the ledger, and of what lies beside it; `-shm` is no data. */
function ledgerFiles({ dir }: Workspace): Readonly<Record<string, string>> {
  const names = readdirSync(dir).filter((name) => name.startsWith('ledger.db') && !name.endsWith('-shm'))
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(dir, name), 'base64')]))
}

async function recognised(program: Program, platform: Sandbox, expected: readonly Expected[]): Promise<void> {
  const url = await urlOf(program)
  const pipes = expected.flatMap(({ pipeId, status }) =>
    pipeId === undefined || status === 'Orphaned' ? [] : [pipeId],
  )
  await until('every pipe to be looked at', () => {
    const seen = platform.requests().map(({ path }) => path.split('/').at(-1))
    return pipes.every((id) => seen.includes(id))
  })
  await until('everything to be shown as it was', async () => {
    expect(byKey(await resourcesOf(url))).toEqual(byKey(expected))
    return true
  })
}

/** Every look misses the missing pipe once more, until it is believed: both are right. */
function byKey(resources: readonly (Expected | Shown)[]): Readonly<Record<string, object>> {
  const facts = resources.map(({ key, status, reason, pipeId }) => {
    const missing = reason === 'MissingUnconfirmed' || reason === 'Missing'
    // By its present name.
    return [key, missing ? { pipeId, missing } : { pipeId, status, reason: parseReason(reason) }]
  })
  return Object.fromEntries(facts) as Record<string, object>
}

/** Requests that could have made something. An endpoint is applied again at its interval: the one exception of law 8. */
function writes(platform: Sandbox): readonly string[] {
  return platform
    .requests()
    .flatMap(({ method, operation }) => (method === 'GET' ? [] : [operation ?? 'unknown']))
}

test('the version of package.json has a fixture, made before it is released', () => {
  expect(RELEASES).toContain(packageJson.version)
})

describe.each(RELEASES)('on the ledger of %s', (release) => {
  test('the current code recognises everything and creates nothing, also when it is started twice', async () => {
    await using given = await after(release)
    const { workspace, platform, expected } = given
    for (let start = 0; start < 2; start += 1) {
      await using program = startProgram(runArgs(workspace, platform.url))
      await recognised(program, platform, expected)
      await stop(program)
      expect(program.stderr()).toBe('')
    }
    expect(creates(platform)).toBe(0)
    expect(writes(platform).filter((operation) => operation !== 'upsertQueryEndpoint')).toEqual([])
    expect(writes(platform).length).toBeLessThanOrEqual(1)
  })

  test('once it is up to date, history and lock read it, and the plan creates nothing', async () => {
    await using given = await broughtUpToDate(release)
    const { workspace, platform, expected } = given
    const written = writes(platform).length
    const run = (...command: readonly string[]) =>
      runHere([...command, ...platformArgs(workspace, platform.url)])
    const history = await run('history', '-o', 'json')
    expect(history.stderr).toBe('')
    expect(history.code).toBe(0)
    for (const { key } of expected.filter((one) => one.pipeId !== undefined))
      expect(history.stdout).toContain(key)
    const lock = await run('lock')
    for (const { pipeId = 'pipes' } of expected) expect(lock.stdout).toContain(pipeId)
    const plan = JSON.parse((await run('plan', '-o', 'json')).stdout) as {
      items: readonly { action: string }[]
    }
    expect(plan.items.length).toBeGreaterThan(5)
    expect(plan.items.map(({ action }) => action)).not.toContain('create')
    expect(writes(platform)).toHaveLength(written)
  })
})

/** The script of a `node -e` command in docs/how-to/back-up-and-restore.md, so that what is tested is what people are told. */
function documentedScript(marker: string): string {
  const page = readFileSync(join(ROOT, 'docs/how-to/back-up-and-restore.md'), 'utf8')
  const [, script] = new RegExp(`node -e '([^']*${marker}[^']*)'`).exec(page) ?? []
  if (script === undefined)
    throw new Error(`docs/how-to/back-up-and-restore.md has no command with ${marker}`)
  return script
}

/** The backup of docs/how-to/back-up-and-restore.md. */
function startBackup(workspace: Workspace): Program {
  const script = documentedScript('backup')
    .replaceAll('/var/lib/pipewright/ledger.db', workspace.path('ledger.db'))
    .replaceAll('/var/lib/pipewright/backup.db', workspace.path('backup.db'))
  return startProgram(['-e', script], { main: '--no-warnings' })
}

async function backedUp(backup: Program): Promise<void> {
  const code = await backup.ended
  expect(backup.stderr()).toBe('')
  expect(code).toBe(0)
}

/** What a process has open; nothing when it has ended. */
function filesOf({ pid }: Program): readonly string[] {
  const folder = `/proc/${pid}/fd`
  if (!existsSync(folder)) return []
  return readdirSync(folder).map((name) => readlinkSync(join(folder, name)))
}

function removeLedger(workspace: Workspace): void {
  for (const name of readdirSync(workspace.dir)) {
    if (name.startsWith('ledger.db')) rmSync(workspace.path(name), { recursive: true })
  }
}

const CURRENT = packageJson.version

describe('last night’s ledger', () => {
  test('a backup waits for a write that is going on', async () => {
    await using given = await after(CURRENT)
    const { workspace } = given
    const ledger = workspace.path('ledger.db')
    const writer = new DatabaseSync(ledger)
    // As the daemon has it: in the mode that the ledger of the fixture is still in, nobody waits for a writer.
    writer.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
    const backup = startBackup(workspace)
    await Promise.race([
      backup.ended,
      until('the backup to have opened the ledger', () => filesOf(backup).includes(ledger)),
    ])
    // Nothing shows that it waits for the lock. One that does not wait has failed by then.
    await setTimeout(1_000)
    writer.exec('COMMIT')
    writer.close()
    await backedUp(backup)
    using copy = new DatabaseSync(workspace.path('backup.db'), { readOnly: true })
    expect(copy.prepare('SELECT count(*) AS records FROM record').get()?.['records']).toBeGreaterThan(5)
  })

  test('backed up by the documented command while the daemon runs, and put back: no POST', async () => {
    await using given = await after(CURRENT)
    const { workspace, platform, expected } = given
    {
      await using program = startProgram(runArgs(workspace, platform.url))
      await recognised(program, platform, expected)
      await backedUp(startBackup(workspace))
      await stop(program)
    }
    removeLedger(workspace)
    cpSync(workspace.path('backup.db'), workspace.path('ledger.db'))
    const before = writes(platform).length
    await using program = startProgram(runArgs(workspace, platform.url, ['--ledger-init', 'never']))
    await recognised(program, platform, expected)
    await stop(program)
    expect(writes(platform).slice(before)).toEqual([])
    expect(creates(platform)).toBe(0)
  })

  test('lost, with the Lock committed: every pipe is taken over, and none is created', async () => {
    await using given = await broughtUpToDate(CURRENT)
    const { workspace, platform, expected } = given
    const lock = await runHere(['lock', ...platformArgs(workspace, platform.url)])
    expect(lock.stdout).toContain('Pipe/plain: ')
    // Those that no Lock can know: their manifests are taken out, as a person would do before going on.
    for (const name of ['unknown', 'interrupted', 'failed', 'missing'])
      rmSync(workspace.path(`manifests/${name}.yaml`))
    const lines = lock.stdout.split('\n').filter((line) => !/Pipe\/(gone|missing)/.test(line))
    workspace.write('manifests/lock.yaml', lines.join('\n'))
    removeLedger(workspace)
    await using program = startProgram(runArgs(workspace, platform.url))
    const url = await urlOf(program)
    for (const key of ['Pipe/plain', 'Pipe/legacy', 'Pipe/drifted']) {
      const shown = await until(`${key} to be taken over`, async () =>
        (await resourcesOf(url)).find((one) => one.key === key && one.pipeId !== undefined),
      )
      expect(shown.pipeId).toBe(expected.find((one) => one.key === key)?.pipeId)
    }
    await stop(program)
    expect(creates(platform)).toBe(0)
  })
})

/** In the header of an SQLite file. */
function hasOlderFormat(release: string): boolean {
  return readFileSync(join(FIXTURES, release, 'ledger.db')).readUInt32BE(60) < MIGRATIONS.length
}

describe.each(RELEASES.filter(hasOlderFormat))('on the ledger of %s, whose format is older', (release) => {
  test('what only reads says that it has to be brought up to date first, and leaves it as it is', async () => {
    await using given = await after(release)
    const { workspace, platform } = given
    const before = ledgerFiles(workspace)
    for (const command of ['history', 'lock', 'plan', 'status']) {
      const { code, stdout, stderr } = await runHere([command, ...platformArgs(workspace, platform.url)])
      expect(stderr).toContain('has an older format. Run `pipewright run`')
      expect(stderr.trim().split('\n')).toHaveLength(1)
      expect(stdout).toBe('')
      expect(code).toBe(1)
    }
    expect(ledgerFiles(workspace)).toEqual(before)
    expect(platform.requests()).toEqual([])
  })
})
