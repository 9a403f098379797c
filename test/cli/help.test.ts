import { expect, test } from 'vitest'
import { SETTINGS } from '../../src/config/settings.ts'
import { runHere } from '../support/command.ts'
import { COMMAND_HELP } from '../../src/cli/usage.ts'

const COMMANDS = Object.keys(COMMAND_HELP)

test('the help of the program names every command, and no other', async () => {
  const { code, stdout } = await runHere([])
  expect(code).toBe(0)
  const named = [...stdout.matchAll(/^ {2}([a-z]+) (?:\[| {2}|<)/gm)].map(([, name = '']) => name)
  expect(named.toSorted()).toEqual([...COMMANDS, 'help'].toSorted())
  expect(stdout).toContain('"pipewright help settings"')
  for (const args of [['help'], ['--help']]) expect(await runHere(args)).toMatchObject({ code: 0, stdout })
})

test.each(COMMANDS)('%s: its help has the flags of its examples, and the exit codes', async (name) => {
  const { code, stdout } = await runHere(['help', name])
  expect(code).toBe(0)
  expect((await runHere([name, '--help'])).stdout).toBe(stdout)
  const settings = new Set(SETTINGS.map(({ flag }) => `--${flag}`))
  for (const example of COMMAND_HELP[name]?.examples ?? []) {
    expect(stdout).toContain(`  pipewright ${example}\n`)
    const flags = [...example.matchAll(/--[a-z-]+/g)].map(([flag]) => flag)
    for (const flag of flags.filter((each) => !settings.has(each)))
      expect(stdout).toMatch(new RegExp(`^ +.*${flag}\\b`, 'm'))
  }
  const named = new Set(/Settings, explained[^:]*:\n([^]*)/.exec(stdout)?.[1]?.match(/--[a-z-]+/g))
  expect([[], [...settings].toSorted()]).toContainEqual([...named].toSorted())
  expect(stdout).toMatch(/Exit codes:\n {2}0 [^]*\n {2}64 {2}usage error\n {2}70 {2}internal error\n/)
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
})

test.each(['run', 'plan', 'apply', 'validate'])('%s: its help names every setting', async (name) => {
  expect((await runHere([name, '--help'])).stdout).toContain('Settings, explained')
})

test.each([['help', 'settings'], ['settings']])('%s %s lists every setting once', async (...args) => {
  const { code, stdout } = await runHere(args)
  expect(code).toBe(0)
  const flags = [...stdout.matchAll(/^ {2}--([a-z-]+)/gm)].map(([, flag = '']) => flag)
  expect(flags.toSorted()).toEqual(SETTINGS.map(({ flag }) => flag).toSorted())
  const text = stdout.replaceAll(/\s+/g, '')
  for (const { env, defaultText } of SETTINGS)
    expect(text).toContain(`${env}.Default:${defaultText.replaceAll(/\s+/g, '')}.`)
  expect(stdout).not.toMatch(/\]\(/)
})

test('version', async () => {
  const { stdout } = await runHere(['version'])
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  expect((await runHere(['--version'])).stdout).toBe(stdout)
})
