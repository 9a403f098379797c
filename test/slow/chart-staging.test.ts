import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LAUNCHER, ROOT } from '../support/process.ts'
import { createWorkspace } from '../support/workspace.ts'
import { runWell, tool } from './support/tools.ts'

const PAGE = readFileSync(join(ROOT, 'docs/how-to/staging-and-production.md'), 'utf8')

test('the overlays of the page render manifests without findings', async () => {
  using workspace = createWorkspace()
  const files = PAGE.matchAll(/```yaml\n# (\S+)\n([\s\S]*?)```/g)
  for (const [, file = '', text = ''] of files) workspace.write(file, text)
  const copies = PAGE.matchAll(/^cp (\S+) (\S+)$/gm)
  for (const [, from = '', to = ''] of copies) copyFileSync(join(ROOT, from), workspace.path(to))
  const build = `'${tool('kustomize')}' build '${workspace.path('overlays/production')}'`
  expect(await runWell('sh', ['-c', build])).toContain('replicas: 3')
  const validate = `'${process.execPath}' '${LAUNCHER}' validate - --profile clickhouse-cloud`
  expect(await runWell('sh', ['-c', `${build} | ${validate}`])).toBe('2 manifests, no findings.\n')
})
