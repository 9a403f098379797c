import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCountingPlatform, type CountingPlatform } from '../kubernetes/counting-platform.ts'
import { writeCommon } from '../kubernetes/pods.ts'
import { REAL_API_LIMIT_MS, startRealApi, type RealApi } from '../kubernetes/real-api.ts'
import { pipeManifest } from '../support/manifests.ts'
import { MAIN, resourcesOf, ROOT, startProgram, urlOf, type Program } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { commandsOfRunbook } from './support/runbook-commands.ts'
import { IN_CLUSTER } from './support/runbook-rows.ts'
import { run, type Ended } from './support/tools.ts'

/*
 * What can be lost of a ledger in the cluster, and how the runbook brings it back: its own lines, at a real API. No pod runs there: what they
 * run in one is run here, with the same ledger.
 */

const stack = new AsyncDisposableStack()
let api: RealApi
let workspace: Workspace
let platform: CountingPlatform

beforeAll(async () => {
  workspace = stack.use(createWorkspace())
  api = stack.use(await startRealApi())
  platform = stack.use(await startCountingPlatform(() => 'answered'))
  writeCommon(workspace)
  workspace.write('manifests/orders.yaml', pipeManifest('orders'))
  await well('kubectl create namespace data')
  // As the chart would: there is nobody who starts its pods.
  await well('kubectl -n data create deployment pipewright --image=registry.example.com/pipewright:0.1.0')
}, REAL_API_LIMIT_MS)

afterAll(() => stack.disposeAsync())

function env() {
  return { ...process.env, KUBECONFIG: api.kubeconfig }
}

function flags(): readonly string[] {
  const { manifests, credentials, secrets } = workspace
  const ledger = 'kubernetes:data/pipewright'
  const all = {
    'base-url': platform.url,
    manifests,
    'credentials-dir': credentials,
    'secrets-dir': secrets,
    ledger,
  }
  return [...Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]), '--allow-insecure-http']
}

/** A line of the runbook, with the program in place of that of a pod. */
function line(text: string): Promise<Ended> {
  const words = ['import', 'plan'].find(
    (each) => text.includes(`pipewright ${each}`) || text.includes(`ledger ${each}`),
  )
  const program = `${process.execPath} ${MAIN}`
  const filled =
    words === 'import'
      ? `cat < ledger-2026-11-20.ndjson > ledger.ndjson && ${program} ledger import ledger.ndjson --ledger kubernetes:data/pipewright`
      : words === 'plan'
        ? `${program} plan ${flags().join(' ')}`
        : text
            .replace('helm/crds', `${ROOT}/helm/crds`)
            .replace(/^pipewright (.*)$/, `${program} $1 --ledger kubernetes:data/pipewright`)
  return run('sh', ['-c', `cd ${workspace.path('.')} && ${filled}`], { env: env() })
}

async function well(text: string): Promise<string> {
  const { code, stdout, stderr } = await line(text)
  expect(code, `${text}: ${stderr}`).toBe(0)
  return stdout
}

async function begin(): Promise<Program> {
  return startProgram(['run', ...flags(), '--listen', '127.0.0.1:0', '--lease-duration', '2s'], {
    env: { KUBECONFIG: api.kubeconfig },
  })
}

async function settled(program: Program, key: string, reason: string): Promise<void> {
  const url = await urlOf(program)
  let seen: Awaited<ReturnType<typeof resourcesOf>>[number] | undefined
  await until(`${key} to be ${reason}`, async () => {
    seen = (await resourcesOf(url)).find((each) => each.key === key)
    return seen?.reason === reason
  }).catch((error: unknown) => {
    throw new Error(`${key} is ${JSON.stringify(seen)}`, { cause: error })
  })
}

async function end(program: Program): Promise<void> {
  program.signal('SIGTERM')
  await program.ended
}

/** It does not start, and says why. */
async function refused(says: string): Promise<void> {
  await using program = await begin()
  expect(await program.ended).not.toBe(0)
  expect(program.stderr()).toContain(says)
}

test('each line stands in the runbook', () => {
  expect(commandsOfRunbook()).toEqual(expect.arrayContaining(Object.values(IN_CLUSTER).flat()))
})

test('what is lost comes back by the lines of the runbook, and no pipe is created twice', async () => {
  await well(IN_CLUSTER.definition)
  {
    await using program = await begin()
    await settled(program, 'Pipe/orders', 'InSync')
    for (const each of IN_CLUSTER.look.slice(0, -1)) await well(each)
    // "no", as there is no Role here: it answers.
    expect((await line(IN_CLUSTER.look.at(-1) ?? '')).stdout.trim()).toBe('no')
    await well(IN_CLUSTER.stop)
    await end(program)
  }
  // Nothing is written after it, so that nothing is missing from it.
  await well('pipewright ledger export ledger-2026-11-20.ndjson')
  await well('kubectl -n data get secret/pipewright --output=yaml > secret.yaml')
  const records = 'pipewrightrecords --selector pipewright.dev/ledger=pipewright'
  await well(`kubectl -n data get ${records} --output=yaml > records.yaml`)

  // the definition, and with it all records
  await well('kubectl delete crd pipewrightrecords.pipewright.dev')
  await refused('the CustomResourceDefinition of PipewrightRecords is missing')
  await well(IN_CLUSTER.definition)
  await until('the API to know them', async () => (await line(IN_CLUSTER.look[6])).code === 0)
  await refused('had records, and has none')
  for (const each of IN_CLUSTER.restore) await well(each)
  expect(readFileSync(workspace.path('secret-before.yaml'), 'utf8')).toContain('hashKey')
  expect(await well(IN_CLUSTER.plan)).toContain('No changes')

  // the same from YAML, with the Secret where it is
  await well(IN_CLUSTER.restore[1])
  await well(IN_CLUSTER.records)
  expect(await well(IN_CLUSTER.plan)).toContain('No changes')

  // the Secret
  await well(IN_CLUSTER.restore[2])
  await refused('its Secret is missing')
  await well(IN_CLUSTER.secret)
  expect(await well(IN_CLUSTER.plan)).toContain('No changes')
  expect(platform.creates()).toBe(1)
})

test('a backup that is older than the Lease is noticed: no resource is created before a person adopts and accepts', async () => {
  {
    await using program = await begin()
    await settled(program, 'Pipe/orders', 'InSync')
    workspace.write('manifests/late.yaml', pipeManifest('late'))
    await settled(program, 'Pipe/late', 'InSync')
    await end(program)
  }
  for (const each of IN_CLUSTER.restore) await well(each)
  await using program = await begin()
  await settled(program, 'Pipe/late', 'LedgerFailed')
  const [id = ''] = platform.pipes.get('late') ?? []
  const adopted = await run(process.execPath, [MAIN, 'adopt', 'Pipe/late', id, ...flags()], { env: env() })
  expect(adopted).toMatchObject({ code: 0 })
  expect((await line(IN_CLUSTER.plan)).stdout).toContain('No changes')
  expect(await well(IN_CLUSTER.accept)).toContain('Accepted')
  await settled(program, 'Pipe/late', 'InSync')

  // The Lease: it ends, and the next one waits.
  await well('kubectl -n data delete lease pipewright')
  expect(await program.ended).toBe(1)
  await using next = await begin()
  await settled(next, 'Pipe/late', 'InSync')
  expect(platform.creates()).toBe(2)
})
