import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { alertManifest } from '../support/manifests.ts'
import { bannedIn } from '../support/plain-words.ts'
import { until } from '../support/until.ts'
import { createScenario, eachFound, type Scenario } from './scenario.ts'

/*
 * What somebody on call reads, of the real program: the log of the daemon, `status` and `history`. It says what happened, where, and
 * what to do, and none of the phrases that were stumbled over.
 */

type Daemon = Awaited<ReturnType<Scenario['start']>>

/** All that was printed so far, by the daemon and by the commands beside it. */
async function printed(scenario: Scenario, { program }: Daemon, key: string): Promise<string> {
  const shown = [await scenario.run(['status', key]), await scenario.run(['history', key])]
  return [...program.log().map((line) => JSON.stringify(line)), ...shown.map(({ stdout }) => stdout)].join(
    '\n',
  )
}

/** The last lines of the daemon, which is ended. */
async function lastLines({ program }: Daemon): Promise<string> {
  program.signal('SIGTERM')
  await program.ended
  return program.stderr()
}

describe('what is said of', () => {
  test('an alerts token that is missing: its file, and the flag', async () => {
    await using scenario = await createScenario()
    const { workspace } = scenario
    rmSync(workspace.path('credentials/alerts/token'))
    workspace.write('manifests/lag.yaml', alertManifest('lag', 'alert-1'))
    const live = await scenario.start()
    const { message } = await live.says('Alert/lag', 'SecretUnavailable')
    expect(message).toContain(`The file ${workspace.path('credentials/alerts/token')} is missing.`)
    expect(message).toContain('--alerts-token-file')
    const text = await printed(scenario, live, 'Alert/lag')
    expect(text).toContain('--alerts-token-file')
    expect(text).not.toContain('secretRef')
    expect(bannedIn(text + (await lastLines(live)))).toEqual([])
  })

  test('credentials that are refused: the secret and its files, at once', async () => {
    await using scenario = await createScenario()
    const { workspace } = scenario
    workspace.write('credentials/analytics-api/keySecret', 'revoked')
    scenario.writePipe('orders')
    const live = await scenario.start()
    const { message } = await live.says('Pipe/orders', 'AuthFailed')
    expect(message).toContain('analytics-api/keyId and analytics-api/keySecret')
    await until('the log names the problem', () =>
      live.program.log().some(({ msg }) => msg === 'Problem found'),
    )
    const text = await printed(scenario, live, 'Pipe/orders')
    expect(text).toContain('"msg":"Problem found"')
    expect(text).not.toContain('revoked')
    expect(bannedIn(text + (await lastLines(live)))).toEqual([])
  })

  test('a directory that goes away: it is missing, and the last state is kept', async () => {
    await using scenario = await createScenario()
    scenario.writePipe('orders')
    const live = await scenario.start()
    await live.says('Pipe/orders', 'Ready')
    await eachFound(scenario)
    rmSync(scenario.workspace.manifests, { recursive: true })
    await until('the log says so', () =>
      live.program.log().some(({ msg, detail }) => {
        const isSaid = msg === 'Manifests not read' || msg === 'Manifests not accepted'
        return isSaid && detail === 'The manifests directory is missing.'
      }),
    )
    expect(scenario.platform.pipes()).toHaveLength(1)
    const text = await printed(scenario, live, 'Pipe/orders')
    expect(bannedIn(text + (await lastLines(live)))).toEqual([])
  })

  test('too many creations: how many are pending, and the create limit', async () => {
    await using scenario = await createScenario()
    for (const name of ['a', 'b', 'c']) scenario.writePipe(name)
    const live = await scenario.start(['--max-creates', '2'])
    const { message } = await live.says('Pipe/a', 'CreateLimit')
    expect(message).toContain('3 creations are pending, and the create limit is 2 (--max-creates).')
    await until('the line', () => live.program.log().some(({ msg }) => msg === 'Problem found'))
    const text = await printed(scenario, live, 'Pipe/a')
    expect(text).toContain('"msg":"Problem found"')
    expect(scenario.creates()).toEqual([])
    expect(bannedIn(text + (await lastLines(live)))).toEqual([])
  })

  test('a reply that was lost: what is not known, both ways out, and what resolved it', async () => {
    await using scenario = await createScenario()
    scenario.platform.faults.add({ operation: 'createPipe', fault: { type: 'cut-after' } })
    scenario.writePipe('orders')
    const live = await scenario.start()
    const { message } = await live.says('Pipe/orders', 'OutcomeUnknown')
    expect(message).toContain('pipewright resolve Pipe/orders --adopt')
    expect(message).toContain('pipewright resolve Pipe/orders --retry')
    const planned = await scenario.run(['plan'])
    expect(planned.stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /run "pipewright resolve Pipe\/orders --retry --ledger \S+ --manifests \S+"/,
    )
    const [pipe] = scenario.platform.pipes()
    const id = pipe?.id ?? 'no pipe'
    // The daemon may still be about to write what became of the create: then the command says when to run it again.
    await until('the command is accepted', async () => {
      const { code, stdout } = await scenario.run(['resolve', 'Pipe/orders', '--adopt', id])
      return (
        code === 0 &&
        stdout.includes(`Linked Pipe/orders to pipe ${id}.`) &&
        /Attempt 1 .* resolved\./.test(stdout)
      )
    })
    const text = await printed(scenario, live, 'Pipe/orders')
    expect(text).toContain('Create attempt 1 recorded.')
    expect(bannedIn(text + (await lastLines(live)))).toEqual([])
  })
})
