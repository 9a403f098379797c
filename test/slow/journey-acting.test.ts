import { rmSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { runProgram, startProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createScenario } from './scenario.ts'

/* A person acts at the shell while the daemon runs, or asks for one that does not. */

const TOKEN = 'planted-admin-token-5d1'

/** A daemon with an admin token, and what a command needs to ask it. */
async function acting() {
  const scenario = await createScenario()
  scenario.workspace.write('credentials/admin/token', TOKEN)
  const token = ['--admin-token-file', `${scenario.workspace.credentials}/admin/token`] as const
  return { scenario, token }
}

async function entries(run: Promise<{ readonly stdout: string }>): Promise<readonly unknown[]> {
  return JSON.parse((await run).stdout) as readonly unknown[] // history -o json
}

describe('reconcile', () => {
  test('waits, and says what became of the one that was asked for', async () => {
    const { scenario, token } = await acting()
    await using _ = scenario
    scenario.writePipe('orders')
    scenario.writePipe('later', { policy: { suspend: '{reason: planned, until: 2099-01-01T00:00:00Z}' } })
    const live = await scenario.start(token)
    await live.says('Pipe/orders', 'Ready')
    const reads = () => scenario.platform.requests().filter(({ method }) => method === 'GET').length
    const before = reads()

    const done = await scenario.run(['reconcile', 'Pipe/orders', '--wait'], token)
    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(done.stdout).toMatch(/^Pipe\/orders: Ready \(InSync\)\. /)
    expect(reads()).toBeGreaterThan(before)

    const all = await scenario.run(
      ['reconcile', '--wait', '-o', 'json', '--timeout', '60s', '--server', live.url],
      token,
    )
    expect(all).toMatchObject({ code: 0, stderr: '' }) // a suspension is a person's will
    const { resources } = JSON.parse(all.stdout) as { resources: readonly { key: string; status: string }[] }
    expect(resources.map(({ key, status }) => [key, status])).toContainEqual(['Pipe/later', 'Suspended'])

    const suspended = await scenario.run(['reconcile', 'Pipe/later'], token)
    expect(suspended.code).toBe(1)
    expect(suspended.stderr).toContain('Pipe/later is suspended until 2099-01-01T00:00:00Z')

    const typo = await scenario.run(['reconcile', 'Pipe/ordres', '--wait'], token)
    expect(typo.code).toBe(1)
    expect(typo.stderr).toContain('there is no resource Pipe/ordres. Did you mean Pipe/orders?')
    expect(scenario.creates()).toEqual(['orders'])
  })

  test.each(['', 'Pipe/orders'])(
    'asked for %j, the credentials are those of now, and not of a moment ago',
    async (key) => {
      const { scenario, token } = await acting()
      await using _ = scenario
      scenario.writePipe('orders')
      const live = await scenario.start(token)
      await live.says('Pipe/orders', 'Ready')
      const check = async () => {
        const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
        const body = JSON.stringify(key === '' ? {} : { key })
        const reply = await fetch(`${live.url}/-/reconcile`, { method: 'POST', headers, body })
        const { progress } = (await reply.json()) as { progress: string }
        await until('the check', async () => {
          const { done } = (await (await fetch(live.url + progress)).json()) as { done: boolean }
          return done
        })
      }
      await check()
      // Within the second for which the files that were read would serve.
      scenario.workspace.write('credentials/analytics-api/keySecret', 'revoked')
      await check()
      expect(await live.says('Pipe/orders', 'AuthFailed')).toMatchObject({ reason: 'AuthFailed' })
    },
  )

  test('says what is missing: a token, the right token, a daemon', async () => {
    const { scenario, token } = await acting()
    await using _ = scenario
    scenario.writePipe('orders')
    scenario.workspace.write('credentials/admin/wrong', 'another')
    const live = await scenario.start(token)
    await live.says('Pipe/orders', 'Ready')

    const none = await scenario.run(['reconcile'])
    expect(none.code).toBe(64)
    expect(none.stderr).toContain('--admin-token-file FILE')
    const wrong = await scenario.run(
      ['reconcile'],
      ['--admin-token-file', `${scenario.workspace.credentials}/admin/wrong`],
    )
    expect(wrong.code).toBe(1)
    expect(wrong.stderr).toContain('the admin token is wrong')
    expect(wrong.stderr + none.stderr).not.toContain(TOKEN)

    await live.kill()
    const dead = await scenario.run(['reconcile', '--wait'], token)
    expect(dead.code).toBe(1)
    expect(dead.stderr).toContain('no daemon works with')
    const refused = await scenario.run(['reconcile', '--server', live.url], token)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('does not answer')
  })

  test('a machine asks for a reading; that most manifests are meant to be gone is said by a person', async () => {
    const { scenario, token } = await acting()
    await using _ = scenario
    const gone = ['a', 'b', 'c']
    for (const name of [...gone, 'stays']) scenario.writePipe(name)
    const live = await scenario.start(token)
    for (const name of gone) await live.says(`Pipe/${name}`, 'Ready')
    for (const name of gone) rmSync(scenario.workspace.path(`manifests/${name}.yaml`))

    const webhook = await fetch(`${live.url}/-/reconcile`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`git-sync:${TOKEN}`).toString('base64')}` },
    })
    expect(webhook.status).toBe(202)
    const asked = await scenario.run(['reconcile', '--wait'], token)
    expect(asked.code).toBe(1)
    expect(asked.stdout).toContain(
      'Manifests not accepted; keeping the last state. The manifests directory lost 3 of 4 manifests of created resources together.',
    )
    expect(asked.stdout).toContain(`"pipewright reconcile --accept --ledger sqlite:${scenario.ledger}"`)
    for (const name of gone) expect(await live.resource(`Pipe/${name}`)).toMatchObject({ status: 'Ready' })

    const one = await scenario.run(['reconcile', 'Pipe/a', '--accept'], token)
    expect(one).toMatchObject({ code: 64, stdout: '' })
    const accepted = await scenario.run(['reconcile', '--accept', '--wait'], token)
    expect(accepted.stdout).not.toContain('not accepted')
    expect(accepted.stdout).toContain('3 of 5 need attention')
    for (const name of gone) expect(await live.resource(`Pipe/${name}`)).toMatchObject({ status: 'Orphaned' })
  })
})

describe('status and history of a running daemon', () => {
  test('say the same as of its ledger, from anywhere, and narrowed alike', async () => {
    const { scenario } = await acting()
    await using _ = scenario
    scenario.writePipe('orders')
    scenario.writePipe('paused', { policy: { suspend: '{reason: planned, until: 2099-01-01T00:00:00Z}' } })
    const live = await scenario.start()
    await live.says('Pipe/orders', 'Ready')
    await live.says('Pipe/paused', 'Suspended')
    await live.says('Service/analytics', 'Ready')
    const empty = scenario.workspace.path('elsewhere')
    scenario.workspace.write('elsewhere/none', '')
    const there = (...command: readonly string[]) =>
      runProgram([...command, '--server', live.url], { cwd: empty })

    const shown = await there('status')
    expect(shown).toMatchObject({ code: 0, stderr: '' })
    expect(shown.stdout).toMatch(/^The daemon is running, started /)
    expect(shown.stdout).toContain(`. Page: ${live.url}\n`)
    expect(shown.stdout).toContain('None of 3 needs attention.')
    const narrow = await there('status', '--status', 'Suspended', '-o', 'name')
    expect(narrow).toMatchObject({ code: 0, stdout: 'Pipe/paused\n' })
    const one = await there('status', 'Pipe/orders', '-o', 'json')
    expect(JSON.parse(one.stdout)).toMatchObject({
      key: 'Pipe/orders',
      status: 'Ready',
      checkedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      daemon: { state: 'running', url: live.url },
    })
    // The manifest is not here: the daemon names the field to write.
    scenario.writePipe('orders', { replicas: 2 })
    await live.says('Pipe/orders', 'Drifted')
    const steps = await there('status', 'Pipe/orders')
    expect([steps.code, steps.stdout]).toEqual([
      1,
      expect.stringMatching(/under\s+`spec\.scaling`,\s+write:\s+replicas: 1/),
    ])
    scenario.writePipe('orders')
    await live.says('Pipe/orders', 'Ready')

    const typo = await there('status', 'Pipe/ordres')
    expect(typo.code).toBe(1)
    expect(typo.stderr).toContain('Did you mean Pipe/orders?')

    for (const narrowed of [
      [],
      ['Pipe/orders'],
      ['--kind', 'Service'],
      ['--reason', 'New', '--limit', '1'],
    ]) {
      await until(`both histories to say the same, ${narrowed.join(' ')}`, async () => {
        const ofLedger = await entries(scenario.run(['history', '-o', 'json', ...narrowed]))
        const ofDaemon = await entries(there('history', '-o', 'json', ...narrowed))
        return ofLedger.length > 0 && isDeepStrictEqual(ofDaemon, ofLedger)
      })
    }
    const unknown = await there('history', 'Pipe/ordres')
    expect([unknown.code, unknown.stdout]).toEqual([1, ''])
    expect(unknown.stderr).toContain('Did you mean Pipe/orders?')

    for (const name of ['orders', 'paused']) rmSync(scenario.workspace.path(`manifests/${name}.yaml`))
    rmSync(scenario.workspace.path('manifests/service.yaml'))
    await until('the empty directory to be doubted', async () => {
      const { code, stdout } = await there('status')
      return code === 1 && stdout.includes('Manifests not accepted; keeping the last state.')
    })
    await using watching = startProgram(['status', '--watch', '--server', live.url], { cwd: empty })
    await until('the first look', () => watching.stdout().includes('Pipe/orders'))
    await live.kill()
    const dead = await there('status')
    expect(dead).toMatchObject({ code: 1, stdout: '' })
    expect(dead.stderr).toContain(`${live.url} does not answer`)

    await until('whoever watches to be told', () => watching.stdout().includes('does not answer'))
    await scenario.start(['--listen', new URL(live.url).host])
    await until('whoever watches to be told', () => watching.stdout().includes('The daemon answers again.'))
    await until('a line for its start', () => /Z {2}daemon {2}The daemon is running/.test(watching.stdout()))
    watching.signal('SIGINT')
    expect(await watching.ended).toBe(0)
    expect(watching.stdout().match(/does not answer/g)).toHaveLength(1)
  })
})
