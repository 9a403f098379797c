import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { CREDENTIAL, ALERTS_TOKEN, pipeManifest, SERVICE } from '../support/manifests.ts'
import { runProgram } from '../support/process.ts'
import { createWorkspace } from '../support/workspace.ts'
import { until } from '../support/until.ts'
import { createScenario, type Scenario } from './scenario.ts'

/* Incidents, each solved with nothing but what the shell shows. */

/** What `status KEY` says to do: each step, with what to copy. */
async function toDo(scenario: Scenario, key: string): Promise<readonly (readonly [string, string])[]> {
  const { stdout } = await scenario.run(['status', key, '-o', 'json'])
  const { next } = JSON.parse(stdout) as { next: readonly { text: string; copy?: string }[] }
  return next.map(({ text, copy }) => [text, copy ?? ''])
}

/** The manifest of the pipe "old", under the name "new". */
function renamed(more = ''): string {
  return pipeManifest('new', { more }).replaceAll('new', 'old').replace('{name: old}', '{name: new}')
}

describe('an incident', () => {
  test('a key is revoked: one cause names the secret, and all goes on with the right key', async () => {
    await using scenario = await createScenario()
    const { platform, workspace } = scenario
    for (const name of ['orders', 'clicks']) scenario.writePipe(name, { policy: { interval: '1s' } })
    const live = await scenario.start()
    for (const name of ['orders', 'clicks']) await live.says(`Pipe/${name}`, 'Ready')

    const renewed = { ...CREDENTIAL, keySecret: 'planted-renewed-secret-1c7' }
    platform.setAccess({ credentials: [renewed], alertTokens: [ALERTS_TOKEN] })
    await live.says('Service/analytics', 'AuthFailed')
    await Promise.all(['orders', 'clicks'].map((name) => live.says(`Pipe/${name}`, 'AuthFailed')))
    const { stdout } = await scenario.run(['status'])
    expect(stdout).toContain('3 resources, AuthFailed: ')
    expect(stdout).toContain('secret analytics-api (files analytics-api/keyId and analytics-api/keySecret')
    const [step] = await toDo(scenario, 'Service/analytics')
    expect(step?.[0]).toContain('They are tried as soon as they change.')

    workspace.write('credentials/analytics-api/keySecret', renewed.keySecret)
    await Promise.all(['orders', 'clicks'].map((name) => live.says(`Pipe/${name}`, 'Ready')))
    await live.says('Service/analytics', 'Ready')
    expect((await scenario.run(['status'])).code).toBe(0)
  })

  test('a commit brings many pipes that nobody wants: no resource is created, and its revert is accepted', async () => {
    await using scenario = await createScenario()
    scenario.writePipe('orders')
    const live = await scenario.start(['--max-creates', '5'])
    await live.says('Pipe/orders', 'Ready')
    const unwanted = Array.from({ length: 30 }, (_, index) => `extra-${index}`)
    for (const name of unwanted) scenario.writePipe(name)
    scenario.workspace.write('other/service.yaml', SERVICE)
    await live.says('Pipe/extra-29', 'CreateLimit')
    await live.says('Pipe/extra-0', 'CreateLimit')
    const { stdout } = await scenario.run(['status'])
    expect(stdout).toContain('30 resources, CreateLimit: In service analytics, 30 creations are pending')
    const { manifests } = scenario.workspace
    expect(await toDo(scenario, 'Pipe/extra-0')).toEqual([
      [
        'If so many creations are intended, allow them once. Later creations are not included:',
        `pipewright allow --service analytics --ledger sqlite:${scenario.ledger} --manifests ${manifests}`,
      ],
      [
        'If not, revert the commit and push. None of them was created. To see the change, in your own checkout:',
        'git log -3 --stat',
      ],
    ])
    // Who only names the ledger hears the same, and an answer about another directory is none.
    const ledger = ['--ledger', `sqlite:${scenario.ledger}`]
    const elsewhere = { cwd: scenario.workspace.path('.') }
    const { stdout: seen } = await runProgram(['status', 'Pipe/extra-0', ...ledger], elsewhere)
    expect(seen).toContain(
      `pipewright allow --service analytics --ledger sqlite:${scenario.ledger} --manifests ${manifests}`,
    )
    for (const [directory, why] of [
      ['nowhere', 'it is not known what the create limit holds back. The manifests directory is missing.'],
      ['other', 'hold nothing back, but the create limit refuses 30 resources of the ledger'],
    ] as const) {
      const wrong = await runProgram(['allow', ...ledger, '--manifests', directory], elsewhere)
      expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining(why)])
    }
    for (const name of unwanted) rmSync(scenario.workspace.path(`manifests/${name}.yaml`))
    await until('the revert to be accepted', async () => (await live.resource('Pipe/extra-29')) === undefined)
    await until('all of it to be gone', async () => (await scenario.run(['status'])).code === 0)
    expect(scenario.creates()).toEqual(['orders'])
  })

  test('a pipe is renamed: the two lines that it takes', async () => {
    await using scenario = await createScenario()
    scenario.writePipe('old')
    const live = await scenario.start()
    await live.says('Pipe/old', 'Ready')
    rmSync(scenario.workspace.path('manifests/old.yaml'))
    scenario.workspace.write('manifests/new.yaml', renamed())
    await live.says('Pipe/new', 'RenameSuspected')
    const steps = await toDo(scenario, 'Pipe/new')
    const copies = steps.map(([, copy]) => copy)
    expect(copies.slice(0, 2)).toEqual(['renamedFrom: Pipe/old', 'name: "old"'])
    expect(steps[1]?.[0]).toContain('under `spec`, write:')
    scenario.workspace.write(
      'manifests/new.yaml',
      renamed(`policy: {${copies[0]}}`).replace('spec:', `spec:\n  ${copies[1]}`),
    )
    await live.says('Pipe/new', 'Ready')
    await until('the old key to be gone', async () => (await live.resource('Pipe/old')) === undefined)
    expect(scenario.creates()).toEqual(['old'])
  })

  test('the reply to a create is lost: both ways out, and the field to write for the one in Git', async () => {
    await using scenario = await createScenario()
    const { platform, workspace } = scenario
    platform.faults.add({ operation: 'createPipe', subject: 'orders', fault: { type: 'cut-after' } })
    scenario.writePipe('orders', { more: 'policy:\n  interval: 1s' })
    const live = await scenario.start()
    await live.says('Pipe/orders', 'OutcomeUnknown')
    const steps = await toDo(scenario, 'Pipe/orders')
    const at = `--ledger sqlite:${scenario.ledger} --manifests ${workspace.manifests}`
    expect(steps.map(([, copy]) => copy).slice(0, 2)).toEqual([
      `pipewright resolve Pipe/orders --adopt PIPE_ID ${at} --base-url ${platform.url} --credentials-dir ${workspace.credentials} --secrets-dir ${workspace.secrets}`,
      `pipewright resolve Pipe/orders --retry ${at}`,
    ])
    expect(steps[2]?.[0]).toContain(`In ${workspace.manifests}/orders.yaml, under \`policy\`, write:`)
    // what a person sees in the console
    const id = String(platform.pipes()[0]?.id)
    const [command = ''] = steps.map(([, copy]) => copy)
    const [, ...args] = command.replace('PIPE_ID', id).split(' ')
    // Pasted as it is, somewhere else, where nothing is set.
    using elsewhere = createWorkspace()
    const pasted = await runProgram(args, { cwd: elsewhere.dir })
    expect([pasted.code, pasted.stderr]).toEqual([0, ''])
    await live.says('Pipe/orders', 'Ready')
    expect(scenario.creates()).toEqual(['orders'])
  })
})
