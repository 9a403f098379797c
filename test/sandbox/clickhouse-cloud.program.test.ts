import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT, runProgram } from '../support/process.ts'
import { createWorkspace } from '../support/workspace.ts'

/*
 * The other profile, with the manifests of its own: the sandbox is as strict as the facts of the service, and answers in the service's
 * own spellings.
 */

const QUICKLY = ['--sandbox', '--profile', 'clickhouse-cloud', '--api-budget', '1000/1s']

interface Told {
  readonly resources: readonly { readonly key: string; readonly status: string; readonly reason: string }[]
}

test('every manifest is created once, is compared without false drift, and is kept apart from the default profile', async () => {
  using workspace = createWorkspace()
  cpSync(join(ROOT, 'examples/clickhouse-cloud'), workspace.path('examples/clickhouse-cloud'), {
    recursive: true,
  })
  const apply = async () => {
    const { stdout } = await runProgram(['apply', ...QUICKLY, '-o', 'json'], { cwd: workspace.dir })
    const { resources } = JSON.parse(stdout) as Told
    return new Map(resources.map(({ key, reason }) => [key, reason]))
  }
  const first = await apply()
  expect([...first].filter(([key]) => key.startsWith('Pipe/')).map(([, reason]) => reason)).toEqual(
    Array.from({ length: 11 }, () => 'Changing'),
  )
  expect(first.get('QueryEndpoint/dashboards')).toBe('InSync')
  const second = await apply()
  expect([...second].filter(([, reason]) => reason !== 'InSync' && reason !== 'Changing')).toEqual([
    ['Alert/checkout-latency', 'UnhealthyState'],
  ])
  expect(existsSync(workspace.path('.pipewright/clickhouse-cloud/sandbox-ledger.db'))).toBe(true)
  expect(existsSync(workspace.path('.pipewright/sandbox-ledger.db'))).toBe(false)

  const plan = ['plan', '--sandbox', '--ledger', 'sqlite:.pipewright/clickhouse-cloud/sandbox-ledger.db']
  const refused = await runProgram([...plan, '--manifests', 'examples/clickhouse-cloud'], {
    cwd: workspace.dir,
  })
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('it was used with --profile clickhouse-cloud, not default.')
})
