import { array, assert, constantFrom, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseSettingsFile } from '../../src/config/setting-sources.ts'
import { readSettings } from '../../src/config/settings.ts'

function readFile(): Promise<string> {
  return Promise.reject(new Error('ENOENT: no such file or directory'))
}

describe('a file of settings', () => {
  test('gives texts as they were written, with their lines', () => {
    const content = [
      '# ours',
      'interval: 10m',
      'concurrency: 08',
      'sandbox: yes',
      '"listen": "[::1]:8080"',
      'manifests: 12',
      '',
    ].join('\n')
    expect(parseSettingsFile('p.yaml', content)).toStrictEqual([
      { name: 'intervalMs', text: '10m', from: 'p.yaml:2 interval' },
      { name: 'concurrency', text: '08', from: 'p.yaml:3 concurrency' },
      { name: 'sandbox', text: 'yes', from: 'p.yaml:4 sandbox' },
      { name: 'listen', text: '[::1]:8080', from: 'p.yaml:5 listen' },
      { name: 'manifests', text: '12', from: 'p.yaml:6 manifests' },
    ])
  })

  test.each([
    ['is empty', ''],
    ['holds only a comment', '# nothing\n'],
  ])('that %s sets nothing', (_, content) => {
    expect(parseSettingsFile('p.yaml', content)).toEqual([])
  })

  test.each([
    ['an unknown key', 'intervall: 5m', 1, 'there is no setting "intervall"', 'did you mean interval?'],
    ['a key with dashes in front', 'a: 1\n--interval: 5m', 2, '"--interval"', 'did you mean interval?'],
    ['the name of a file', 'config: x.yaml', 1, 'cannot name another settings file', 'remove it'],
    ['a key without a value', '\ninterval:\n', 2, 'interval has no value', 'write a value'],
    ['a list for a value', 'interval: [5m]', 1, 'interval is not one value', 'quotes'],
    ['a mapping for a value', 'listen: {host: x}', 1, 'listen is not one value', 'quotes'],
    ['a list', '- interval', 1, 'not a mapping', 'one setting a line'],
    ['a text', 'interval 5m', 1, 'not a mapping', 'one setting a line'],
    ['a key twice', 'interval: 5m\ninterval: 6m', 2, 'DUPLICATE_KEY', 'correct the YAML'],
    ['YAML that does not parse', 'a: 1\nlisten: [::1]:8080', 2, '', 'correct the YAML'],
    ['two documents', 'interval: 5m\n---\nlisten: x', 2, 'a second document', 'correct the YAML'],
    ['an unknown tag', 'interval: !secret 5m', 1, 'TAG_RESOLVE_FAILED', 'correct the YAML'],
  ])('with %s is a problem at its line', (_, content, line, why, right) => {
    const problem = parseSettingsFile('p.yaml', content).at(-1)
    const words = { why: expect.stringContaining(why), right: expect.stringContaining(right) }
    expect(problem).toEqual({ from: `p.yaml:${line}`, ...words })
  })

  test('of any content gives values or problems, and never throws', () => {
    const yamlish = array(
      constantFrom(...'interval|: |\n|- |&a |*a|!!str |? |{|}|"|---\n|%YAML 1.1\n|x'.split('|')),
    )
    assert(
      property(yamlish, string(), (parts, noise) => {
        for (const content of [parts.join(''), noise]) {
          expect(parseSettingsFile('p.yaml', content).length).toBeGreaterThanOrEqual(0)
        }
      }),
    )
  })

  test.each([
    ['a flag', { config: 'gone.yaml' }, {}, '--config'],
    ['a variable', {}, { PIPEWRIGHT_CONFIG: 'gone.yaml' }, 'PIPEWRIGHT_CONFIG'],
  ])('that %s names and that cannot be read is a problem, beside all others', async (_, flags, env, from) => {
    const reading = await readSettings({ flags: { ...flags, interval: 'x' }, env, needs: 'local', readFile })
    expect(reading).toMatchObject({
      problems: [{ from, given: 'gone.yaml' }, { from: '--interval' }],
    })
  })

  test('is not looked for unless named', async () => {
    expect(await readSettings({ flags: {}, env: {}, needs: 'local', readFile })).toHaveProperty('settings')
  })
})
