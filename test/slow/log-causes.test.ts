import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Live } from '../support/live.ts'
import { CREDENTIAL, mountCredential, pipeManifest } from '../support/manifests.ts'
import { resourcesOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { aged, createScenario, type Scenario } from './scenario.ts'

/*
 * One cause, one line (design §8): what touches many resources, of which each finds out by itself, is said once, with their number,
 * and its end once. Each resource has its lines at debug. What was known before a restart is not said again.
 */

const FAST = ['--interval', '1s', '--max-creates', '100', '--log-level', 'debug']

/** What each process says of itself. */
const OF_ITSELF: ReadonlySet<unknown> = new Set([
  'Started',
  'Manifests read',
  'Watch mode changed',
  'Stopping',
  'Stopped',
])

function namesOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `p${String(index).padStart(2, '0')}`)
}

/** All in one file, so that one reading sees all of a change. */
function writePipes({ workspace }: Scenario, count: number, more = ''): void {
  const pipes = namesOf(count).map((name) => pipeManifest(name, { more }))
  workspace.write('manifests/pipes.yaml', pipes.join('---\n'))
}

async function allSay({ url }: Live, count: number, reason: string): Promise<void> {
  let last: readonly unknown[] = []
  await until(
    `${count} pipes to say ${reason}`,
    async () => {
      const pipes = (await resourcesOf(url)).filter(({ key }) => key.startsWith('Pipe/'))
      last = pipes.map((pipe) => `${pipe.key} ${pipe.reason}`)
      return pipes.length === count && pipes.every((pipe) => pipe.status === reason || pipe.reason === reason)
    },
    90_000,
  ).catch((error: unknown) => {
    throw new Error(last.join('\n'), { cause: error })
  })
}

async function ready(scenario: Scenario, count: number): Promise<Live> {
  writePipes(scenario, count)
  const live = await scenario.start(FAST)
  await allSay(live, count, 'Ready')
  return live
}

/** Three passes more: whatever is to be said has been said. */
async function passes({ program }: Live): Promise<void> {
  const looks = () =>
    program.log().filter(({ msg, key }) => msg === 'Reconciled' && key === 'Pipe/p00').length
  const before = looks()
  await until('three passes', () => looks() >= before + 3, 60_000)
}

/** Lines above debug since `from`, but for what a process says of itself. */
function said({ program }: Live, from = 0) {
  return program
    .log()
    .slice(from)
    .filter(({ level, msg }) => level !== 'debug' && level !== 'trace' && !OF_ITSELF.has(msg))
    .map(({ level, msg, reason, resources, findings }) => ({
      level,
      msg,
      reason,
      number: resources ?? findings,
    }))
}

/** One line when it begins, and one each time that it has grown tenfold. */
function expectBegin(lines: ReturnType<typeof said>, reason: string): void {
  const [first, ...more] = lines
  expect(first).toMatchObject({ level: 'warn', msg: 'Problem found', reason })
  let least = Number(first?.number) * 10
  for (const line of more) {
    expect(line).toMatchObject({ level: 'warn', msg: 'Problem grew', reason })
    expect(line.number).toBeGreaterThanOrEqual(least)
    least *= 10
  }
}

function length({ program }: Live): number {
  return program.log().length
}

/** A line at debug for each of them. */
function detailed({ program }: Live, from: number, reason: string): number {
  const lines = program.log().slice(from)
  const of = lines.filter((line) => line['level'] === 'debug' && line['reason'] === reason)
  return new Set(of.map(({ key }) => key).filter((key) => String(key).startsWith('Pipe/'))).size
}

describe.concurrent('one cause, one line:', () => {
  test('a key that is revoked, for thirty pipes and their service', async () => {
    await using scenario = await createScenario()
    const live = await ready(scenario, 30)
    let from = length(live)
    scenario.workspace.write('credentials/analytics-api/keySecret', 'revoked')
    await allSay(live, 30, 'AuthFailed')
    await until('the line', () => said(live, from).length > 0)
    expectBegin(said(live, from), 'AuthFailed')
    expect(detailed(live, from, 'AuthFailed')).toBe(30)
    from = length(live)
    mountCredential(scenario.workspace, 'analytics-api', CREDENTIAL)
    await allSay(live, 30, 'Ready')
    await live.says('Service/analytics', 'Ready')
    await until('the end', () => said(live, from).length > 0)
    expect(said(live, from)).toEqual([
      { level: 'info', msg: 'Problem over', reason: 'AuthFailed', number: 31 },
    ])
  })

  test('a ledger that is taken away under the process, and put back', async () => {
    await using scenario = await createScenario()
    const live = await ready(scenario, 10)
    const from = length(live)
    renameSync(scenario.ledger, `${scenario.ledger}.away`)
    await allSay(live, 10, 'LedgerFailed')
    // Whoever finds out first, a reading or a writing.
    const ofLedger = () =>
      said(live, from).map(({ level, msg }) => `${String(level)} ${String(msg).split(' ')[0]}`)
    expect(ofLedger()).toEqual(['error Ledger'])
    renameSync(`${scenario.ledger}.away`, scenario.ledger)
    await allSay(live, 10, 'Ready')
    await until('the end to be said', () => ofLedger().length > 1)
    expect(ofLedger()).toEqual(['error Ledger', 'info Ledger'])
  })

  test('drift behind an outage is not over, and not found again', async () => {
    await using scenario = await createScenario()
    const live = await ready(scenario, 10)
    for (const { id } of scenario.platform.pipes()) scenario.platform.change(id, { scaling: { replicas: 5 } })
    await allSay(live, 10, 'Drifted')
    await until('the line', () => said(live).some(({ reason }) => reason === 'Drifted'))
    const from = length(live)
    scenario.platform.faults.add({
      operation: 'getPipe',
      times: 'always',
      fault: { type: 'status', status: 503 },
    })
    await allSay(live, 10, 'Unavailable')
    await until('the outage', () => said(live, from).some(({ reason }) => reason === 'Unavailable'))
    scenario.platform.faults.clear()
    await allSay(live, 10, 'Drifted')
    await live.says('Service/analytics', 'Ready')
    await until('the end', () => said(live, from).some(({ msg }) => msg === 'Problem over'))
    const lines = said(live, from)
    expect(lines.filter(({ reason }) => reason !== 'Unavailable')).toEqual([])
    expect(lines.filter(({ msg }) => msg === 'Problem over')).toHaveLength(1)
  })

  test('an outage, which each pipe finds out by itself', async () => {
    await using scenario = await createScenario()
    const live = await ready(scenario, 30)
    const { faults } = scenario.platform
    let from = length(live)
    faults.add({ operation: 'getPipe', times: 'always', fault: { type: 'status', status: 503 } })
    await until('the first line', () => said(live, from).length > 0)
    await allSay(live, 30, 'Unavailable')
    expectBegin(said(live, from), 'Unavailable')
    expect(detailed(live, from, 'Unavailable')).toBe(30)
    from = length(live)
    faults.clear()
    await allSay(live, 30, 'Ready')
    await live.says('Service/analytics', 'Ready')
    await until('the end', () => said(live, from).length > 0)
    expect(said(live, from)).toEqual([
      { level: 'info', msg: 'Problem over', reason: 'Unavailable', number: 31 },
    ])
  })

  test('pipes that are missing all at once are a warning, and none after a restart', async () => {
    await using scenario = await createScenario()
    const first = await ready(scenario, 30)
    await first.stop()
    await scenario.rewrite(aged)
    const live = await scenario.start(FAST)
    scenario.platform.faults.add({
      operation: 'getPipe',
      times: 'always',
      fault: { type: 'status', status: 404 },
    })
    await allSay(live, 30, 'MassMissing')
    await until('the line', () => said(live).length > 0)
    expectBegin(said(live), 'MassMissing')
    await live.stop()
    const again = await scenario.start(FAST)
    await allSay(again, 30, 'MassMissing')
    await passes(again)
    expect(said(again)).toEqual([])
  })

  test('a commit with thirty manifests of one mistake, and none after a restart', async () => {
    await using scenario = await createScenario()
    const live = await ready(scenario, 30)
    const from = length(live)
    writePipes(scenario, 30, 'polcy: {}')
    await allSay(live, 30, 'Invalid')
    await passes(live)
    expect(said(live, from)).toEqual([{ level: 'warn', msg: 'Finding', reason: undefined, number: 30 }])
    expect(detailed(live, from, 'InvalidManifest')).toBe(30)
    await live.stop()
    const again = await scenario.start(FAST)
    await passes(again)
    expect(said(again)).toEqual([])
    writePipes(scenario, 30)
    await allSay(again, 30, 'Ready')
    expect(said(again)).toEqual([{ level: 'info', msg: 'Findings over', reason: undefined, number: 30 }])
  })

  test('a create limit that holds forty pipes, and nothing after a restart', async () => {
    await using scenario = await createScenario()
    writePipes(scenario, 40)
    const args = ['--interval', '1s', '--log-level', 'debug']
    const live = await scenario.start(args)
    await allSay(live, 40, 'CreateLimit')
    await until('the line', () => said(live).length > 0)
    expectBegin(said(live), 'CreateLimit')
    await live.stop()
    const again = await scenario.start(args)
    await passes(again)
    expect(said(again)).toEqual([])
  })

  test('a secret that twenty pipes need, and nothing after a restart', async () => {
    await using scenario = await createScenario()
    rmSync(scenario.workspace.path('secrets/kafka'), { recursive: true })
    writePipes(scenario, 20)
    const live = await scenario.start(FAST)
    await allSay(live, 20, 'SecretUnavailable')
    await until('the line', () => said(live).length > 0)
    expectBegin(said(live), 'SecretUnavailable')
    await live.stop()
    const again = await scenario.start(FAST)
    await passes(again)
    expect(said(again)).toEqual([])
    mkdirSync(scenario.workspace.path('secrets/kafka'), { recursive: true })
    scenario.workspace.write('secrets/kafka/password', 'planted-kafka-password-55a')
    await until('the end', () => said(again).some(({ msg }) => msg === 'Problem over'), 90_000)
    const ofOthers = new Set<unknown>(['Create finished', 'Condition changed'])
    expect(said(again).filter(({ msg }) => !ofOthers.has(msg))).toEqual([
      { level: 'info', msg: 'Problem over', reason: 'SecretUnavailable', number: 20 },
    ])
  })
})
