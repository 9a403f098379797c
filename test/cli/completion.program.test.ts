import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runHere } from '../support/command.ts'
import { LAUNCHER } from '../support/process.ts'
import { given } from '../ways-out/given.ts'

test('bash completes the keys of the ledger', async () => {
  await using world = await given('orders', 'returns')
  await world.apply()
  const ledger = `sqlite:${world.workspace.path('ledger.db')}`
  const script = (await runHere(['completion', 'bash'])).stdout
  world.workspace.write('bin/pipewright', `#!/bin/sh\nexec '${process.execPath}' '${LAUNCHER}' "$@"\n`)
  chmodSync(world.workspace.path('bin/pipewright'), 0o755)
  const line = ['pipewright', 'resolve', '--ledger', ledger, 'Pipe/or']
  const typed = `COMP_WORDS=(${line.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=4; _pipewright; echo "\${COMPREPLY[@]}"`
  const env = { PATH: `${world.workspace.path('bin')}:${process.env['PATH'] ?? ''}` }
  expect(execFileSync('bash', ['-c', `${script}\n${typed}`], { env, encoding: 'utf8' })).toBe('Pipe/orders\n')
})
