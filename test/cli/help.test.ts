import { expect, test } from 'vitest'
import { COMMAND_GROUPS, COMMAND_HELP } from '../../src/cli/command-help.ts'
import { runHere } from '../support/command.ts'

const COMMANDS = COMMAND_GROUPS.flatMap(([, names]) => names)

test('the help of the program names every command, each in a sentence', async () => {
  const { code, stdout } = await runHere([])
  expect(code).toBe(0)
  for (const name of COMMANDS)
    expect(stdout).toMatch(new RegExp(`^ {2}${name} +[A-Z].*[^.]$|^ {2}${name} +[A-Z].*\\.$`, 'm'))
  expect((await runHere(['help'])).stdout).toBe(stdout)
  expect((await runHere(['--help'])).stdout).toBe(stdout)
})

test('no command is left out, and none is made up', async () => {
  const { stdout } = await runHere(['__complete', ''])
  expect(stdout.trim().split('\n').toSorted()).toEqual([...COMMANDS].toSorted())
})

test.each(COMMANDS.filter((name) => name !== 'help'))(
  '%s: own options and two examples come first, then the settings; it fits 80 columns',
  async (name) => {
    const { code, stdout } = await runHere(['help', name])
    expect(code).toBe(0)
    expect((await runHere([name, '--help'])).stdout).toBe(stdout)
    const help = COMMAND_HELP[name]
    expect(help?.examples.length).toBeGreaterThanOrEqual(2)
    for (const example of help?.examples ?? []) {
      expect(stdout).toContain(`  pipewright ${example}\n`)
      for (const [flag] of example.matchAll(/--[a-z-]+/g))
        expect(stdout).toMatch(new RegExp(`^ +.*${flag}\\b`, 'm'))
    }
    const order = ['Usage:', 'Examples:', 'Options:', 'Settings.', 'Exit codes:']
    const places = order.map((title) => stdout.indexOf(`\n${title}`)).filter((place) => place >= 0)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(/Exit codes: 0 .*; 64 usage error; 70 internal error\./)
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  },
)

test('version', async () => {
  const { stdout } = await runHere(['version'])
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  expect((await runHere(['--version'])).stdout).toBe(stdout)
})

test('help of a command that is not there says which is meant', async () => {
  const { code, stderr } = await runHere(['statsu'])
  expect(code).toBe(64)
  expect(stderr).toContain('status')
})
