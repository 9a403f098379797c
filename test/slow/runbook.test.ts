import { execFileSync } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from '../support/process.ts'
import { until } from '../support/until.ts'
import { CHART, objectsIn, podsIn, type PodSpec } from './support/chart.ts'
import { ask, type Shown } from './support/chart-world.ts'
import type { Container } from './support/image-container.ts'
import { layOutImage, type ImageRoot } from './support/image-root.ts'
import { commandsOfRunbook, parseExec, podOfRunbook, wordsOf } from './support/runbook-commands.ts'
import { BESIDE, IN_CLUSTER, OUTSIDE, WITHOUT_A_DAEMON, type Ends } from './support/runbook-rows.ts'
import { INCIDENTS, walkIncident } from './support/runbook-incidents.ts'
import { startPodWorld, type PodWorld } from './support/runbook-pod.ts'
import { run, runWell, tool } from './support/tools.ts'
import { folderForFile } from '../support/folders.ts'

/* Every command line of the runbook, run in the root of the image as the chart mounts it, as its user, with its variables; and its incidents. */

const COMMANDS = commandsOfRunbook()
const OF_CLUSTER: readonly string[] = Object.values(IN_CLUSTER).flat()

/** What has to be there for the commands that are for a running daemon. */
const PIPES = {
  orders: '',
  stuck: '',
  lost: '',
  gone: 'policy: {interval: 1s}',
  seen: 'policy: {interval: 1s}',
  old: '',
  removed: '',
}

const LEFT = Object.fromEntries(
  Object.entries(PIPES).filter(([name]) => name !== 'old' && name !== 'removed'),
)

const folder = folderForFile()
let image: ImageRoot

beforeAll(async () => {
  execFileSync('chmod', ['755', folder])
  image = await layOutImage()
}, 900_000)

test('each command of the runbook is run here, and nothing else', () => {
  const rows = [...Object.keys(BESIDE), ...Object.keys(WITHOUT_A_DAEMON), ...OUTSIDE, ...OF_CLUSTER]
  expect(rows.toSorted()).toEqual(COMMANDS.toSorted())
})

/** A line with what whoever reads it puts in, as words, if it is for the pod; and the file that it reads. */
async function inPod(world: PodWorld, line: string, { key = 'Pipe/orders' }: Ends) {
  const id = await world.pipeId(key.replace('Pipe/', ''))
  const filled = line
    .replace(/\bPOD\b/, '-n data pipewright-0')
    .replaceAll(/\bKEY\b/g, key)
    .replace(/\bID\b/, id)
    .replace(/\bNAME\b/, 'analytics')
    .replace(/\bURL\b/, 'http://127.0.0.1:9000')
    .replace('Pipe/other', 'Pipe/orders')
  if (!filled.startsWith('kubectl ')) return { command: wordsOf(filled), stdin: undefined }
  return parseExec(filled)
}

async function expectAsSaid(
  { world, container }: { readonly world: PodWorld; readonly container: Container },
  [line, row]: readonly [string, Ends],
): Promise<void> {
  const { command, stdin } = await inPod(world, line, row)
  const { code, stdout, stderr } = await container.exec(command, stdin && join(folder, stdin))
  expect({ line, code, said: stdout + stderr }).toEqual({
    line,
    code: row.code ?? 0,
    said: expect.stringMatching(row.says) as string,
  })
}

describe('beside a running daemon', () => {
  let stack: AsyncDisposableStack
  let world: PodWorld
  let container: Container

  beforeAll(async () => {
    stack = new AsyncDisposableStack()
    world = stack.use(await startPodWorld(image, folder))
    const rules = [
      { operation: 'createPipe', subject: 'stuck', fault: { type: 'cut-after' } },
      { operation: 'createPipe', subject: 'lost', fault: { type: 'cut-before' } },
    ]
    await world.ask('/-/sandbox/faults', { rules })
    world.commit(PIPES)
    container = stack.use(await world.startDaemon())
    const seen = async (what: string, ...keys: readonly string[]) => {
      await until(`${keys.join(', ')} to be ${what}`, async () => {
        const { items } = await ask<Shown>(container, 'http://127.0.0.1:8080/api/v1/resources')
        return keys.every((key) => items.some((item) => item.key === key && item.reason === what))
      })
    }
    await seen('OutcomeUnknown', 'Pipe/stuck', 'Pipe/lost')
    await seen('InSync', 'Pipe/orders', 'Pipe/gone', 'Pipe/old', 'Pipe/removed', 'Pipe/seen')
    world.commit(LEFT)
    await seen('Orphaned', 'Pipe/old', 'Pipe/removed')
    await world.ask('/-/sandbox/vanish', { pipeId: await world.pipeId('gone') })
    await seen('MissingUnconfirmed', 'Pipe/gone')
  })
  afterAll(() => stack.disposeAsync())

  test.each(Object.entries(BESIDE))('%s', async (...row) => {
    await expectAsSaid({ world, container }, row)
    expect(await world.creates()).toBeLessThanOrEqual(Object.keys(PIPES).length + 1)
  })
})

describe('in diagnostic mode', () => {
  let stack: AsyncDisposableStack
  let world: PodWorld
  let container: Container

  beforeAll(async () => {
    stack = new AsyncDisposableStack()
    world = stack.use(await startPodWorld(image, folder, { ledger: { init: 'never' } }))
    world.commit({ orders: '', refunds: '' })
    container = stack.use(await world.startDiagnostic())
    const first = await container.exec(['pipewright', 'apply', '--ledger-init', 'auto'])
    const lock = await container.exec(['pipewright', 'lock'])
    if (first.code !== 0 || lock.code !== 0) throw new Error(first.stderr + lock.stderr)
    world.commit({ orders: '', refunds: '' }, { 'pipes.lock.yaml': lock.stdout })
    copyFileSync(join(world.ledger, 'ledger.db'), join(folder, 'ledger-2026-11-20.db'))
  })
  afterAll(() => stack.disposeAsync())

  test.each(Object.entries(WITHOUT_A_DAEMON))('%s', async (...row) => {
    await expectAsSaid({ world, container }, row)
    expect(await world.creates()).toBe(2)
  })
})

describe('the pod that only mounts the claim', () => {
  const text = podOfRunbook()
  const { spec } = parse(text) as { spec: PodSpec } // it was found by its kind

  test('is one that Kubernetes takes, and held as tight as that of the chart', async () => {
    const file = join(folder, 'ledger-pod.yaml')
    writeFileSync(file, text)
    expect(await run(tool('kubectl-validate'), [file, '--version', '1.30'])).toMatchObject({ code: 0 })
    const [pod] = podsIn(await chartOfDocs())
    const [own] = spec.containers
    const chart = pod?.containers.find(({ name }) => name === own?.name)
    expect(spec.securityContext).toEqual(pod?.securityContext)
    expect(own?.securityContext).toEqual(chart?.securityContext)
    expect(own?.env?.[0]).toEqual(chart?.env?.find(({ name }) => name === 'PIPEWRIGHT_LEDGER'))
    expect(spec.volumes).toEqual([
      { name: 'ledger', persistentVolumeClaim: { claimName: 'ledger-pipewright-0' } },
    ])
    writeFileSync(file, text.replace('restartPolicy', 'restartPolice'))
    expect(await run(tool('kubectl-validate'), [file, '--version', '1.30'])).not.toMatchObject({ code: 0 })
  })

  test('runs in the image, and writes to the ledger', async () => {
    await using world = await startPodWorld(image, folder)
    await using container = await world.startWaiting(spec)
    copyFileSync(join(folder, 'ledger-2026-11-20.db'), join(world.ledger, 'source.db'))
    const put = await container.exec(
      ['sh', '-c', 'cat > /var/lib/pipewright/ledger.db'],
      join(world.ledger, 'source.db'),
    )
    expect(put).toMatchObject({ code: 0 })
    const { stdout } = await container.exec(['pipewright', 'status'])
    expect(stdout).toContain('Pipe/refunds')
  })
})

// Each in a pod of its own, and most of the time goes by in waiting.
describe.concurrent('an incident', () => {
  test.each(INCIDENTS)('$what', async (incident) => {
    const { ended, seconds } = await walkIncident(incident, image, folder)
    process.stdout.write(`${incident.what}: ${seconds.toFixed(0)} s\n`)
    expect(ended).toEqual(incident.ends)
  })
})

/** Release and values of docs/tutorials/kubernetes.md. */
function chartOfDocs(...more: readonly string[]): Promise<string> {
  const page = readFileSync(join(ROOT, 'docs/tutorials/kubernetes.md'), 'utf8')
  const [, values = ''] = /```yaml\n# values\.yaml\n([\s\S]*?)```/.exec(page) ?? []
  const file = join(folder, 'values.yaml')
  writeFileSync(file, values)
  return runWell(tool('helm'), [
    'template',
    'pipewright',
    CHART,
    '--namespace',
    'data',
    '--values',
    file,
    ...more,
  ])
}

test('what is for helm are upgrades that the chart takes', async () => {
  const lines = COMMANDS.filter((line) => line.startsWith('helm '))
  const form = /^helm upgrade pipewright \.\/helm --namespace data --values values\.yaml((?: --set \S+)*)$/
  expect(lines.filter((line) => !form.test(line))).toEqual([])
  const sets = lines.map((line) => form.exec(line)?.[1]?.split(' ').slice(1) ?? [])
  const rendered = await Promise.all(sets.map((set) => chartOfDocs(...set)))
  expect(rendered.map((text) => text.includes('no daemon runs'))).toEqual([true, false])
})

test('what is for kubectl names what the chart makes', async () => {
  const rendered = await chartOfDocs()
  const objects = objectsIn(rendered)
  const set = objects.find(({ kind }) => kind === 'StatefulSet')
  if (set === undefined) throw new Error('the chart makes no StatefulSet')
  const { volumeClaimTemplates: claims } = set.spec as {
    volumeClaimTemplates: readonly { metadata: { name: string } }[]
  } // of a StatefulSet
  const pod = `${set.metadata.name}-0`
  const known = new Set([
    pod,
    `statefulset/${set.metadata.name}`,
    ...(podsIn(rendered)[0]?.containers.map(({ name }) => name) ?? []),
    ...claims.map(({ metadata }) => `${metadata.name}-${pod}`),
    'pipewright-ledger',
  ])
  const lines = COMMANDS.filter((line) => line.startsWith('kubectl ') && !OF_CLUSTER.includes(line)).map(
    (line) => line.replace(/\bPOD\b/, '-n data pipewright-0'),
  )
  const names = lines.flatMap((line) => namesIn(line))
  expect(names.length).toBeGreaterThan(10)
  expect(names.filter((name) => !known.has(name))).toEqual([])
  const spaces = lines.flatMap((line) => line.match(/(?<= -n )\S+/g) ?? [])
  expect(new Set(spaces)).toEqual(new Set(['data']))
})

test('what is for kubectl and a ledger in the cluster names what the chart makes there', async () => {
  const objects = objectsIn(await chartOfDocs('--set', 'ledger.type=kubernetes'))
  const nameOf = (kind: string) => {
    const found = objects.find((object) => object.kind === kind)
    if (found === undefined) throw new Error(`the chart makes no ${kind}`)
    return found.metadata.name
  }
  const { rules } = objects.find(({ kind }) => kind === 'Role') as unknown as {
    readonly rules: readonly {
      readonly apiGroups: readonly string[]
      readonly resources: readonly string[]
      readonly resourceNames?: readonly string[]
    }[]
  } // of a Role
  const ledger = rules.find(({ resources }) => resources.includes('leases'))?.resourceNames?.[0] ?? ''
  const records = rules.find(({ resources }) => resources.includes('pipewrightrecords'))
  const [group = ''] = records?.apiGroups ?? []
  const known = new Set([
    ledger,
    `leases/${ledger}`,
    'pipewrightrecords',
    `pipewrightrecords.${group}`,
    `${group}/ledger=${ledger}`,
    `deployment/${nameOf('Deployment')}`,
    `--as=system:serviceaccount:data:${nameOf('ServiceAccount')}`,
  ])
  const names = OF_CLUSTER.filter((line) => line.startsWith('kubectl ')).flatMap(namesIn)
  expect(names.length).toBeGreaterThan(10)
  expect(names.filter((name) => !known.has(name))).toEqual([])
})

/** Words of a line that name something of ours, before what is run in a pod. */
function namesIn(line: string): readonly string[] {
  return line.split(' -- ')[0]?.match(/\S*\bpipewright\S*/g) ?? []
}
