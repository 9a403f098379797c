import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { fileURLToPath } from 'node:url'
import { dirname, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { commandContext, replyContext, settingsOfDaemon, stepContext } from '../../src/cli/command-context.ts'
import { AS_SAID } from '../../src/server/command-line.ts'
import { placeOf } from '../../src/server/shown-resource.ts'

const FILE = fileURLToPath(import.meta.url)
const HERE = { profile: DEFAULT, sandbox: true, ledger: 'sqlite:.pipewright/sandbox-ledger.db' }

test.each([
  ['a folder', dirname(FILE), dirname(FILE)],
  ['a single file', FILE, dirname(FILE)],
  ['what is not there', 'no/such/folder', 'no/such/folder'],
])('places are named from where the manifests stand: %s', (_what, manifests, folder) => {
  const { manifestsDir } = stepContext({ ...HERE, manifests })
  expect(manifestsDir).toBe(folder)
  expect(placeOf(manifestsDir, 'a.yaml', 3)).toBe(`${folder}/a.yaml:3`)
})

test('what a daemon said stays as it is, and what is said here names what it is said of', () => {
  expect(replyContext({ ...HERE, server: 'http://127.0.0.1:1' })).toEqual(AS_SAID)
  expect(replyContext(HERE)).toMatchObject({ sandbox: true })
})

const OWN_LEDGER = 'sqlite:.pipewright/ledger.db'
const OTHER_LEDGER = 'sqlite:/x/ledger.db'

test.each([
  ['what a command reads by itself is not named', OWN_LEDGER, 'manifests', undefined],
  ['another directory is named so that it is found from anywhere', OWN_LEDGER, 'other', resolve('other')],
  [
    'who names the ledger from anywhere names the manifests too',
    OTHER_LEDGER,
    'manifests',
    resolve('manifests'),
  ],
])('%s', (_why, ledger, manifests, named) => {
  expect(commandContext({ profile: DEFAULT, sandbox: false, ledger, manifests }).manifests).toBe(named)
})

test.each([
  ['the daemon reads another directory', 'manifests', '/srv/manifests', '/srv/manifests'],
  ['the daemon reads the same directory', 'manifests', resolve('manifests'), 'manifests'],
  ['a person names another directory', 'mine', '/srv/manifests', 'mine'],
  ['an earlier version did not say which', 'manifests', undefined, 'manifests'],
])('the manifests are those of the daemon, unless a person says otherwise: %s', (_, given, ofDaemon, is) => {
  const settings = { profile: DEFAULT, sandbox: false, ledger: OTHER_LEDGER, manifests: given }
  expect(settingsOfDaemon(settings, { manifests: ofDaemon }).manifests).toBe(is)
})

test('a ledger and secrets that a command would not find by itself are named so that they are found from anywhere', () => {
  const named = commandContext({
    profile: DEFAULT,
    sandbox: false,
    ledger: 'sqlite:x.db',
    secretsDir: 'mounted',
  })
  expect(named).toMatchObject({ ledger: `sqlite:${resolve('x.db')}`, secretsDir: resolve('mounted') })
  const standard = {
    profile: DEFAULT,
    sandbox: false,
    ledger: OWN_LEDGER,
    secretsDir: '/etc/pipewright/secrets',
  }
  expect(commandContext(standard)).toMatchObject({ ledger: undefined, secretsDir: undefined })
})

test.each([
  ['the daemon has others', '/etc/pipewright/secrets', '/srv/secrets', '/srv/secrets'],
  ['a person names others', 'mine', '/srv/secrets', 'mine'],
  ['an earlier version did not say which', '/etc/pipewright/secrets', undefined, '/etc/pipewright/secrets'],
])('the secrets are those of the daemon, unless a person says otherwise: %s', (_, given, ofDaemon, is) => {
  const settings = { profile: DEFAULT, sandbox: false, ledger: OTHER_LEDGER, secretsDir: given }
  expect(settingsOfDaemon(settings, { secretsDir: ofDaemon }).secretsDir).toBe(is)
})
