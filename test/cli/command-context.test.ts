import { fileURLToPath } from 'node:url'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { replyContext, stepContext } from '../../src/cli/command-context.ts'
import { AS_SAID } from '../../src/server/command-line.ts'
import { placeOf } from '../../src/server/remedy.ts'

const FILE = fileURLToPath(import.meta.url)
const HERE = { sandbox: true, ledger: 'sqlite:.pipewright/sandbox-ledger.db' }

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
