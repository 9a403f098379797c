import { describe, expect, test } from 'vitest'
import { createScenario } from './scenario.ts'

/* A person acts at the shell while the daemon runs, or asks for one that does not. */

const TOKEN = 'planted-admin-token-5d1'

/** A daemon with an admin token, and what a command needs to ask it. */
async function acting() {
  const scenario = await createScenario()
  scenario.workspace.write('secrets/admin/token', TOKEN)
  const token = ['--admin-token-file', `${scenario.workspace.secrets}/admin/token`] as const
  return { scenario, token }
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
    expect(typo.stderr).toContain('Did you mean "Pipe/orders"?')
    expect(scenario.creates()).toEqual(['orders'])
  })

  test('says what is missing: a token, the right token, a daemon', async () => {
    const { scenario, token } = await acting()
    await using _ = scenario
    scenario.writePipe('orders')
    scenario.workspace.write('secrets/admin/wrong', 'another')
    const live = await scenario.start(token)
    await live.says('Pipe/orders', 'Ready')

    const none = await scenario.run(['reconcile'])
    expect(none.code).toBe(64)
    expect(none.stderr).toContain('--admin-token-file FILE')
    const wrong = await scenario.run(
      ['reconcile'],
      ['--admin-token-file', `${scenario.workspace.secrets}/admin/wrong`],
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
})
