import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { LAUNCHER, MAIN, ROOT, runProgram } from '../support/process.ts'

describe('bin/pipewright.js', () => {
  it('is the command of the package, and can be called as one', () => {
    expect(join(ROOT, packageJson.bin.pipewright)).toBe(LAUNCHER)
    expect(statSync(LAUNCHER).mode & 0o111).toBe(0o111)
    const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` }
    expect(execFileSync(LAUNCHER, ['--version'], { env, encoding: 'utf8' }).trim()).toBe(packageJson.version)
  })

  it.each([[['--version']], [['schema', 'Pip']], [['validate', '/nowhere']], [['nonsense']]])(
    'does what src/main.ts does: %j',
    async (args) => {
      const [one, other] = [
        await runProgram(args, { main: LAUNCHER }),
        await runProgram(args, { main: MAIN }),
      ]
      expect(one).toEqual(other)
    },
  )

  it('keeps what was stripped and compiled in the same folder', () => {
    const folders = [LAUNCHER, MAIN].map((file) => {
      const [, path = ''] = /new URL\('([^']+)', import\.meta\.url\)/.exec(readFileSync(file, 'utf8')) ?? []
      return new URL(path, `file://${file}`).pathname
    })
    expect(folders[0]).toBe(join(ROOT, 'node_modules/.cache/pipewright'))
    expect(folders[1]).toBe(folders[0])
  })
})
