import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { httpServer } from '../platform/support/server.ts'
import { mountSecrets, pipeManifest, platformArgs, SERVICE } from '../support/manifests.ts'
import { runHere } from '../support/command.ts'
import { createWorkspace } from '../support/workspace.ts'

/* What a platform says of a request it refuses: all of it reaches the person, as far as 2 KB go. */

const FIRST = 'destination.columns[0].type: unknown type "Uint64", did you mean UInt64?'
const SECOND = 'source.kafka.topics: no topic "orders" for reader in the cluster of the administrator'
const TEXT = `${FIRST}; ${'and so it is said once more. '.repeat(55)}${SECOND}`

function refusing(text: string) {
  return httpServer((response) => {
    response.writeHead(400, { 'content-type': 'application/json' })
    const requestId = '11111111-2222-4333-8444-555555555555'
    response.end(JSON.stringify({ status: 400, requestId, error: text }))
  })
}

test('both violations of a refusal are in status and history, and the record stays small', async () => {
  using workspace = createWorkspace()
  await using platform = await refusing(TEXT)
  mountSecrets(workspace)
  workspace.write('secrets/kafka/password', 'administrator')
  workspace.write('manifests/service.yaml', SERVICE)
  workspace.write('manifests/orders.yaml', pipeManifest('orders'))
  const run = (command: readonly string[]) => runHere([...command, ...platformArgs(workspace, platform.url)])
  expect((await run(['apply'])).code).toBe(1)

  for (const command of [
    ['status', 'Pipe/orders'],
    ['status', 'Pipe/orders', '-o', 'json'],
    ['history', 'Pipe/orders'],
    ['history', 'Pipe/orders', '-o', 'json'],
  ]) {
    const text = (await run(command)).stdout.replaceAll(/\s+/g, ' ').replaceAll('\\"', '"')
    expect(text, command.join(' ')).toContain(FIRST)
    // a word of its own is masked where it is a secret; a plain user name that is written out is not
    expect(text, command.join(' ')).toContain(SECOND.replace('administrator', '[secret]'))
  }
  const line = (await run(['status'])).stdout
  expect(line).toContain('Pipe/orders')

  using ledger = new DatabaseSync(workspace.path('ledger.db'), { readOnly: true })
  const bodies = ledger.prepare("select * from record where key = 'Pipe/orders'").all()
  expect(bodies).toHaveLength(1)
  expect(JSON.stringify(bodies).length).toBeLessThan(8 * 1_024)
})
