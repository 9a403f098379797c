import { DEFAULT } from '../src/kinds/profiles/default/profile.ts'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createSandbox } from '../src/sandbox/sandbox-server.ts'
import { readFixture } from '../src/sandbox/fixture.ts'
import { startProgram, urlOf } from '../test/support/process.ts'
import { until } from '../test/support/until.ts'
import type { Workspace } from '../test/support/workspace.ts'

const TOKEN = 'made-up-token'

/** Who is in order and whose API key the platform refuses. */
const SERVICES = { analytics: 'refused', commerce: 'right', operations: 'right' } as const

/** `secretRef: { name: kafka, key: password }`, as the example manifests write it. */
const REFERENCE = /secretRef: \{ name: ([\w-]+), key: ([\w.-]+) \}/g

/** What is to be seen on the page, and why; the keys of the first ones of each. */
export const FAULTS = {
  'Pipe/orders': 'the reply to its creation is lost',
  'Pipe/refunds': 'a misspelt field in its manifest',
  'Pipe/clickstream': 'the platform refuses the API key of its service',
  'Pipe/carrier-invoices': 'a secret that is not mounted',
  'Pipe/warehouse-stock': 'somebody changed it in the console',
  'Alert/stale-stock': 'it fires',
} as const

/** The example manifests on a platform of its own, with a fault of each sort; `manifests/` must be in the workspace. */
export async function startTroubledDaemon(
  workspace: Workspace,
  stack: AsyncDisposableStack,
): Promise<{ readonly url: string; readonly platform: string }> {
  const fixture = await readFixture(workspace.path('manifests/.sandbox.yaml'), DEFAULT)
  const platform = stack.use(
    await createSandbox({
      fixture,
      credentials: Object.entries(SERVICES)
        .filter(([, key]) => key === 'right')
        .map(([name]) => ({ keyId: name, keySecret: 'right' })),
      alertTokens: [TOKEN],
      faults: { rules: [{ operation: 'createPipe', subject: 'orders', fault: { type: 'cut-after' } }] },
    }),
  )
  mountSecrets(workspace)
  rmSync(workspace.path('secrets/invoices-storage'), { recursive: true })
  misspell(workspace.path('manifests/payments/refunds.yaml'))

  const args = [
    'run',
    '--manifests',
    'manifests',
    '--credentials-dir',
    'credentials',
    '--secrets-dir',
    'secrets',
    '--ledger',
    'sqlite:ledger.db',
  ]
  const platformArgs = ['--base-url', platform.url, '--alerts-base-url', platform.url]
  const program = stack.use(
    startProgram([...args, ...platformArgs, '--listen', '127.0.0.1:0'], { cwd: workspace.dir }),
  )
  const url = await urlOf(program)
  await until('all faults to be seen', () => allSeen(url), 60_000)
  return { url, platform: platform.url }
}

function mountSecrets(workspace: Workspace): void {
  for (const name of Object.keys(SERVICES)) {
    workspace.write(`credentials/${name}-api/keyId`, name)
    workspace.write(`credentials/${name}-api/keySecret`, name === 'analytics' ? 'wrong' : 'right')
  }
  workspace.write('credentials/alerts/token', TOKEN)
  for (const file of readdirSync(workspace.manifests, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.yaml')) continue
    const text = readFileSync(workspace.path('manifests', file), 'utf8')
    for (const [, name, key] of text.matchAll(REFERENCE)) workspace.write(`secrets/${name}/${key}`, 'made-up')
  }
}

function misspell(file: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replace('replicas:', 'replcas:'))
}

async function allSeen(url: string): Promise<boolean> {
  const reply = await fetch(`${url}/api/v1/resources`)
  const { items } = (await reply.json()) as {
    readonly items: readonly { readonly key: string; readonly status: string }[]
  } // of our API
  const busy = items.filter(
    ({ key, status }) => status === 'Progressing' || (status === 'NotReady' && !(key in FAULTS)),
  )
  const well = items.filter(({ key, status }) => key in FAULTS && status === 'Ready')
  return items.length > 0 && busy.length === 0 && well.length === 0
}
