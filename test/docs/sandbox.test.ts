import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FaultsFile } from '../../src/sandbox/faults.ts'
import { readSandboxFile } from '../../src/sandbox/wire-schema.ts'
import { fixtureSchema } from '../../src/sandbox/fixture.ts'
import { createWorkspace } from '../support/workspace.ts'

/* What docs/reference/sandbox.md shows, works. */

const PAGE = readFileSync(new URL('../../docs/reference/sandbox.md', import.meta.url), 'utf8')

function examples(language: string): readonly string[] {
  return [...PAGE.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, text = '']) => text,
  )
}

test.each([
  ['faults', FaultsFile, 0],
  ['fixture', fixtureSchema(DEFAULT), 1],
] as const)('the %s file is right', async (name, schema, at) => {
  using workspace = createWorkspace()
  workspace.write(`${name}.yaml`, examples('yaml')[at] ?? '')
  const said = await readSandboxFile<object>(workspace.path(`${name}.yaml`), schema)
  expect(Object.values(said).flat()).not.toEqual([])
})
