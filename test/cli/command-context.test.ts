import { fileURLToPath } from 'node:url'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { stepContext } from '../../src/cli/command-context.ts'

const FILE = fileURLToPath(import.meta.url)
const COMMANDS = { sandbox: true, profile: DEFAULT, config: 'a.yaml', server: undefined }

test.each([
  ['a folder', dirname(FILE), dirname(FILE)],
  ['a single file', FILE, dirname(FILE)],
  ['what is not there', 'no/such/folder', 'no/such/folder'],
])('places are named from where the manifests are: %s', (_what, manifests, manifestsDir) => {
  expect(stepContext({ ...COMMANDS, manifests })).toEqual({ ...COMMANDS, manifestsDir })
})
