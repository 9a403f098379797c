import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { describe, expect, test } from 'vitest'
import { CHART, HELMS, objectOf, render, valuesFile, type Helm } from './support/chart.ts'
import { run, tool, type Ended } from './support/tools.ts'
import { listenHere } from '../support/listen-here.ts'
import { folderForFile } from '../support/folders.ts'

const folder = folderForFile()

/** The kinds that the cluster of the test has, by their groups. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  apps: ['StatefulSet', 'Deployment'],
  'networking.k8s.io': ['NetworkPolicy'],
  policy: ['PodDisruptionBudget'],
  'rbac.authorization.k8s.io': ['Role', 'RoleBinding'],
}

function resourcesOf(groupVersion: string, kinds: readonly string[]): object {
  const resources = kinds.map((kind) => ({
    name: `${kind.toLowerCase()}s`.replace(/ys$/, 'ies'),
    namespaced: true,
    kind,
    verbs: ['get'],
  }))
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources }
}

/** As much of the API of Kubernetes as Helm asks for. */
const DISCOVERY: Readonly<Record<string, object>> = {
  '/version': { major: '1', minor: '30', gitVersion: 'v1.30.0' },
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/api/v1': resourcesOf('v1', ['Service', 'ServiceAccount', 'Pod', 'Secret', 'PersistentVolumeClaim']),
  '/apis': {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: Object.keys(KINDS).map((name) => {
      const version = { groupVersion: `${name}/v1`, version: 'v1' }
      return { name, versions: [version], preferredVersion: version }
    }),
  },
  ...Object.fromEntries(
    Object.entries(KINDS).map(([name, kinds]) => [`/apis/${name}/v1`, resourcesOf(`${name}/v1`, kinds)]),
  ),
}

const NOT_FOUND = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 }

const STATEFUL_SETS = '/apis/apps/v1/namespaces/data/statefulsets'
const DEPLOYMENTS = '/apis/apps/v1/namespaces/data/deployments'

interface InCluster {
  readonly name?: string
  readonly labels?: object
  /** What else is there, by its path. */
  readonly others?: Readonly<Record<string, object>>
}

/** What the chart makes of its values where the cluster has that StatefulSet, under that name. */
async function renderInCluster(
  helm: Helm,
  spec: object | undefined,
  more: readonly string[] = [],
  { name = 'demo-pipewright', labels = {}, others = {} }: InCluster = {},
): Promise<Ended & { readonly asked: number }> {
  const statefulSet = spec && {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name,
      namespace: 'data',
      labels: { 'app.kubernetes.io/managed-by': 'Helm', ...labels },
      annotations: { 'meta.helm.sh/release-name': 'demo', 'meta.helm.sh/release-namespace': 'data' },
    },
    spec,
  }
  const items = statefulSet === undefined ? [] : [statefulSet]
  const all = { kind: 'StatefulSetList', apiVersion: 'apps/v1', metadata: {}, items }
  let asked = 0
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://cluster')
    if (pathname === `${STATEFUL_SETS}/demo-pipewright`) asked += 1
    const answer =
      pathname === `${STATEFUL_SETS}/${name}`
        ? statefulSet
        : { ...DISCOVERY, [STATEFUL_SETS]: all, ...others }[pathname]
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? NOT_FOUND))
  })
  const port = await listenHere(server)
  try {
    const kubeconfig = join(mkdtempSync(join(folder, 'kube-')), 'config')
    writeFileSync(
      kubeconfig,
      stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
        users: [{ name: 'u', user: {} }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    )
    const args = [
      '--namespace',
      'data',
      '--kube-version',
      '1.30',
      '--dry-run=server',
      '--disable-openapi-validation',
    ]
    const env = { ...process.env, KUBECONFIG: kubeconfig }
    const ended = await run(
      tool(helm),
      ['template', 'demo', CHART, ...args, '--values', valuesFile('minimal'), ...more],
      { env },
    )
    return { ...ended, asked }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** The StatefulSet that the chart makes without anything special, and its labels. */
async function made() {
  const { spec, metadata } = objectOf(await render(valuesFile('minimal')), 'StatefulSet')
  const { labels } = metadata as { readonly labels: Readonly<Record<string, string>> } // as every object has them
  return { spec: spec as object, labels } // of a StatefulSet
}

describe.each(HELMS)('what Kubernetes never changes, %s', (helm) => {
  test('a StatefulSet of an earlier chart: the upgrade is refused with what to do', async () => {
    const spec = { podManagementPolicy: 'OrderedReady', serviceName: 'demo-pipewright' }
    const { code, stderr, asked } = await renderInCluster(helm, spec)
    expect(asked).toBeGreaterThan(0)
    expect(code).not.toBe(0)
    expect(stderr).toContain('kubectl -n data delete statefulset demo-pipewright --cascade=orphan')
  })

  test('one of this chart is upgraded', async () => {
    const { spec } = objectOf(await render(valuesFile('minimal')), 'StatefulSet')
    const { code, stderr, asked } = await renderInCluster(helm, spec as object) // of a StatefulSet
    expect(asked).toBeGreaterThan(0)
    expect(code, stderr).toBe(0)
  })

  test.each([
    ['the size', ['ledger.size=2Gi'], 'ledger.size is not what'],
    ['the class', ['ledger.storageClassName=fast'], 'ledger.storageClassName is not what'],
    [
      'no class, which is not the default one',
      ['ledger.storageClassName='],
      'ledger.storageClassName is not',
    ],
    [
      'two at once',
      ['ledger.accessModes={ReadWriteMany}', 'ledger.annotations.backup=yes'],
      'ledger.accessModes, ledger.annotations is not',
    ],
    ['a claim of its own', ['ledger.existingClaim=mine'], 'ledger.existingClaim is not what'],
    ['the labels', ['nameOverride=other', 'fullnameOverride=demo-pipewright'], 'set nameOverride back'],
  ])('is refused before anything is changed: %s', async (_what, values, says) => {
    const { spec } = objectOf(await render(valuesFile('minimal')), 'StatefulSet')
    const more = values.flatMap((value) => ['--set', value])
    const { code, stderr } = await renderInCluster(helm, spec as object, more) // of a StatefulSet
    expect(code).not.toBe(0)
    expect(stderr).toContain(says)
  })

  test('a claim that was given cannot become one of the chart', async () => {
    const { volumeClaimTemplates: _claims, ...spec } = objectOf(
      await render(valuesFile('minimal')),
      'StatefulSet',
    ).spec as Readonly<Record<string, unknown>>
    expect((await renderInCluster(helm, spec)).stderr).toContain('ledger.existingClaim is not what')
    const mine = ['--set', 'ledger.existingClaim=mine']
    expect(await renderInCluster(helm, spec, mine)).toMatchObject({ code: 0 })
  })

  test('a size that is written in another way is the same', async () => {
    const { spec } = objectOf(await render(valuesFile('minimal')), 'StatefulSet')
    const more = ['--set', 'ledger.size=1024Mi']
    expect(await renderInCluster(helm, spec as object, more)).toMatchObject({ code: 0 }) // of a StatefulSet
  })

  describe('another name on an upgrade', () => {
    const upgrade = ['--is-upgrade', '--set', 'fullnameOverride=other']
    test('is refused: the ledger would stay behind', async () => {
      const { spec, labels } = await made()
      const { code, stderr } = await renderInCluster(helm, spec, upgrade, { labels })
      expect(code).not.toBe(0)
      expect(stderr).toContain('would put a StatefulSet other in the place of demo-pipewright')
      expect(stderr).toContain('with fullnameOverride: demo-pipewright, and')
      expect(stderr).toContain('ledger.existingClaim: ledger-demo-pipewright-0')
    })

    test('is taken where there was a trial in the sandbox', async () => {
      const { labels } = await made()
      const values = ['--set', 'platform.baseUrl=,platform.alertsBaseUrl=,platform.sandbox=true']
      const trial = await renderInCluster(helm, undefined, values)
      const { spec } = objectOf(trial.stdout, 'StatefulSet')
      const { code, stderr } = await renderInCluster(helm, spec as object, upgrade, { labels }) // of a StatefulSet
      expect(code, stderr).toBe(0)
    })

    test.each([
      [
        'the ledger goes with it',
        { more: ['--set', 'ledger.existingClaim=ledger-demo-pipewright-0'], labels: {} },
      ],
      ['it is that of another release', { more: [], labels: { 'app.kubernetes.io/instance': 'another' } }],
      ['it is that of another alias', { more: [], labels: { 'helm.sh/chart': 'west-0.1.0' } }],
    ])('is taken where %s', async (_why, { more, labels }) => {
      const before = await made()
      const { code, stderr } = await renderInCluster(helm, before.spec, [...upgrade, ...more], {
        labels: { ...before.labels, ...labels },
      })
      expect(code, stderr).toBe(0)
    })
  })

  describe('where the ledger is', () => {
    const IN_CLUSTER = ['--is-upgrade', '--set', 'ledger.type=kubernetes']
    const DIAGNOSTIC = ['--set', 'diagnosticMode=true']
    const CLAIM = {
      '/api/v1/namespaces/data/persistentvolumeclaims/ledger-demo-pipewright-0': {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'ledger-demo-pipewright-0', namespace: 'data' },
      },
    }
    const SECRET = {
      '/api/v1/namespaces/data/secrets/demo-pipewright': {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'demo-pipewright', namespace: 'data' },
      },
    }

    /** The Deployment that the chart makes, under another name where one is given. */
    async function deployed(name = 'demo-pipewright'): Promise<Readonly<Record<string, object>>> {
      const { spec, metadata } = objectOf(await render(valuesFile('kubernetes')), 'Deployment')
      const object = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { ...metadata, name, namespace: 'data' },
        spec,
      }
      const all = { kind: 'DeploymentList', apiVersion: 'apps/v1', metadata: {}, items: [object] }
      return { [`${DEPLOYMENTS}/${name}`]: object, [DEPLOYMENTS]: all }
    }

    const NO_DEPLOYMENTS = {
      [DEPLOYMENTS]: { kind: 'DeploymentList', apiVersion: 'apps/v1', metadata: {}, items: [] },
    }

    test('from a file into the cluster: refused while a daemon works with the file, imported or not', async () => {
      const { spec } = await made()
      for (const others of [CLAIM, { ...CLAIM, ...SECRET }]) {
        const { code, stderr } = await renderInCluster(helm, spec, IN_CLUSTER, { others })
        expect(code).not.toBe(0)
        expect(stderr).toContain('the StatefulSet demo-pipewright works with it')
        expect(stderr).toContain('with diagnosticMode=true')
      }
      const { code, stderr } = await renderInCluster(helm, spec, [...IN_CLUSTER, ...DIAGNOSTIC], {
        others: CLAIM,
      })
      expect(code, stderr).toBe(0)
    })

    test('from a file into the cluster: refused until it was imported', async () => {
      const without = { ...CLAIM, ...(await deployed()) }
      const { code, stderr } = await renderInCluster(helm, undefined, IN_CLUSTER, { others: without })
      expect(code).not.toBe(0)
      expect(stderr).toContain('there is one on the claim ledger-demo-pipewright-0')
      expect(stderr).toContain('kubectl -n data delete pvc ledger-demo-pipewright-0')
      const imported = await renderInCluster(helm, undefined, IN_CLUSTER, {
        others: { ...without, ...SECRET },
      })
      expect(imported.code, imported.stderr).toBe(0)
    })

    test('an installation beside a claim that was left: refused as well', async () => {
      const { code, stderr } = await renderInCluster(helm, undefined, IN_CLUSTER.slice(1), { others: CLAIM })
      expect(code).not.toBe(0)
      expect(stderr).toContain('pipes that are in it would be created a second time')
    })

    test('back into a file: refused while pods work with the cluster', async () => {
      const others = { ...(await deployed()), ...SECRET }
      const { code, stderr } = await renderInCluster(helm, undefined, ['--is-upgrade'], { others })
      expect(code).not.toBe(0)
      expect(stderr).toContain('the Deployment demo-pipewright works with it')
      const more = ['--is-upgrade', ...DIAGNOSTIC]
      const diagnostic = await renderInCluster(helm, undefined, more, { others })
      expect(diagnostic.code, diagnostic.stderr).toBe(0)
    })

    test('in the cluster: another name is refused, and so are other labels', async () => {
      const others = await deployed('other')
      const renamed = await renderInCluster(helm, undefined, IN_CLUSTER, { others })
      expect(renamed.code).not.toBe(0)
      expect(renamed.stderr).toContain('would put a Deployment demo-pipewright in the place of other')
      const labels = [...IN_CLUSTER, '--set', 'nameOverride=other,fullnameOverride=demo-pipewright']
      const relabelled = await renderInCluster(helm, undefined, labels, {
        others: { ...(await deployed()), ...SECRET },
      })
      expect(relabelled.code).not.toBe(0)
      expect(relabelled.stderr).toContain('set nameOverride back')
    })

    test('in the cluster: it is installed where there is nothing, and upgraded where there is one', async () => {
      const installed = await renderInCluster(helm, undefined, IN_CLUSTER.slice(1))
      expect(installed.code, installed.stderr).toBe(0)
      for (const others of [NO_DEPLOYMENTS, { ...(await deployed()), ...SECRET }, await deployed()]) {
        const upgraded = await renderInCluster(helm, undefined, IN_CLUSTER, { others })
        expect(upgraded.code, upgraded.stderr).toBe(0)
      }
    })
  })

  test('none is there: it is installed', async () => {
    const { code, stderr, asked } = await renderInCluster(helm, undefined)
    expect(asked).toBeGreaterThan(0)
    expect(code, stderr).toBe(0)
  })
})
