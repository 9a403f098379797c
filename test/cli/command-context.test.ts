import { fileURLToPath } from 'node:url'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { stepContext } from '../../src/cli/command-context.ts'

const FILE = fileURLToPath(import.meta.url)

test.each([
  ['a folder', dirname(FILE), dirname(FILE)],
  ['a single file', FILE, dirname(FILE)],
  ['what is not there', 'no/such/folder', 'no/such/folder'],
])('places are named from where the manifests are: %s', (_what, manifests, manifestsDir) => {
  expect(stepContext({ typed: [], manifests })).toEqual({ typed: [], manifestsDir })
})
