import { execFileSync, spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { runHere } from '../support/command.ts'
import { ROOT } from '../support/process.ts'
import { tool } from './support/tools.ts'
import { given } from '../ways-out/given.ts'
import { folderForTest } from '../support/folders.ts'

/* The command line as somebody meets it who has just cloned the project. */

describe('in a fresh clone', () => {
  test('npx finds the command and its own Node, whatever Node the machine has', async () => {
    const clone = folderForTest()
    execFileSync('git', ['clone', '--quiet', '--depth=1', `file://${ROOT}`, clone])
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
    // Without this project's own Node in front.
    const path = (process.env['PATH'] ?? '').split(':').filter((part) => !part.includes('node_modules'))
    const ran = spawnSync('npx', ['--offline', 'pipewright', 'validate', '-o', 'json'], {
      cwd: clone,
      env: { PATH: path.join(':'), HOME: clone },
      encoding: 'utf8',
    })
    expect(ran.status).toBe(0)
    expect(JSON.parse(ran.stdout)).toMatchObject({ findings: [] })
  })
})

test('a table is as wide as the terminal, and as it comes out in a file', async () => {
  await using world = await given(['a-pipe-with-quite-a-long-name-that-a-narrow-terminal-has-no-room-for'])
  await world.command('apply')
  const ledger = `sqlite:${world.workspace.path('ledger.db')}`
  const command = `stty cols 60; '${process.execPath}' '${join(ROOT, 'bin/pipewright.js')}' status --ledger '${ledger}'`
  const seen = execFileSync(tool('script'), ['-qec', command, '/dev/null'], { encoding: 'utf8' })
  const table = seen.split('\n').slice(2, 5)
  for (const line of table) expect(stripVTControlCharacters(line).trimEnd().length).toBeLessThanOrEqual(60)
  const piped = await runHere(['status', '--ledger', ledger])
  expect(piped.stdout).toContain('a-pipe-with-quite-a-long-name-that-a-narrow-terminal-has-no-room-for')
})
