import { execFile } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { pipeManifest } from '../support/manifests.ts'
import { MAIN } from '../support/process.ts'
import { until } from '../support/until.ts'
import { given } from './given.ts'

describe('a filter of status', () => {
  test('beside a key is a usage error', async () => {
    await using world = await given()
    const ended = await world.command('status', 'Pipe/orders', '--kind', 'Pipe', '--label', 'team=x')
    expect(ended).toMatchObject({ code: 64, stdout: '' })
    expect(ended.stderr).toContain(
      '--kind Pipe --label team=x filters the list of all resources. Give either --kind Pipe --label team=x or Pipe/orders.',
    )
  })

  test('that matches nothing is named; without records, that is said', async () => {
    await using world = await given('orders')
    const before = await world.command('status', '--label', 'team=x')
    expect(before.stderr).toContain('there is no ledger')
    await world.apply()
    const ended = await world.command('status', '--kind', 'pipe', '--label', 'team=x', '--reason', 'Drifted')
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).toContain('No resource matches --kind Pipe --label team=x --reason Drifted.')
    expect(ended.stdout).not.toMatch(/RESOURCE|recorded yet/)
    const names = await world.command('status', '--label', 'team=x', '-o', 'name')
    expect(names.stdout).toBe('')
    const history = await world.command('history', '--label', 'team=x')
    expect(history.stdout).toBe('No entry of the history matches --label team=x.\n')
  })
})

test('status --watch ends, and quietly, when nobody reads it any more', async () => {
  await using world = await given('orders')
  await world.apply()
  const ledger = `sqlite:${world.workspace.path('ledger.db')}`
  const line = `("$0" "$1" status --watch --ledger "$2"; echo "code $?" >&2) | head -n 1`
  let ended: { readonly stdout: string; readonly stderr: string } | undefined
  const shell = execFile('bash', ['-c', line, process.execPath, MAIN, ledger], (_, stdout, stderr) => {
    ended = { stdout, stderr }
  })
  try {
    let count = 0
    // It notices when it has something to say.
    await until('the watch to end', async () => {
      if (ended !== undefined) return true
      count += 1
      world.workspace.write(`manifests/more-${count}.yaml`, pipeManifest(`more-${count}`))
      await world.apply()
      return undefined
    })
    expect(ended).toEqual({ stdout: expect.stringContaining('apply'), stderr: 'code 0\n' })
  } finally {
    shell.kill('SIGKILL')
  }
})
