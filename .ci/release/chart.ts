/**
 * `chart.ts FOLDER IMAGE DIGEST` packs the chart with the released image in it, by its digest, and renders `install.yaml` of it:
 * a namespace with Pipewright on its own sandbox and the examples of its image, for `kubectl apply -f`.
 * GITHUB_REPOSITORY (`owner/name`) is where it comes from: the chart's home.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseDocument, stringify } from 'yaml'
import packageJson from '../../package.json' with { type: 'json' }

const ROOT = join(import.meta.dirname, '../..')

const NAMESPACE = 'pipewright'

/** What it is rendered for; a `helm` that was built without one takes Kubernetes for a very old one. */
const KUBERNETES = '1.34.0'

const VALUES = {
  platform: { sandbox: true },
  networkPolicy: { prometheus: [] },
}

const HEADER = `# Pipewright ${packageJson.version} on a sandbox of its own: nothing outside of the cluster is reached.
#
#   kubectl apply -f install.yaml
#   kubectl -n ${NAMESPACE} rollout status statefulset/pipewright
#   kubectl -n ${NAMESPACE} port-forward pipewright-0 8080     # then http://127.0.0.1:8080/
#
# Rendered from the chart. For a real platform use the chart itself: its values say what has to be given.
`

/**
 * The chart with the image that belongs to it, and with its home, which a checkout does not know. The digest is no value: whoever sets
 * `image.tag` would get the released image all the same.
 */
function releasedChart(folder: string, repository: string, digest: string): string {
  const chart = join(folder, 'pipewright')
  cpSync(join(ROOT, 'helm'), chart, { recursive: true })
  const source = process.env['GITHUB_REPOSITORY']
  const about = parseDocument(readFileSync(join(chart, 'Chart.yaml'), 'utf8'))
  if (source !== undefined) {
    const home = `https://github.com/${source}`
    about.setIn(['home'], home)
    about.setIn(['sources'], [home])
  }
  about.setIn(['annotations', 'pipewright/image-digest'], digest)
  writeFileSync(join(chart, 'Chart.yaml'), about.toString({ lineWidth: 0 }))
  const values = parseDocument(readFileSync(join(chart, 'values.yaml'), 'utf8'))
  if (!values.hasIn(['image', 'repository'])) throw new Error('the chart has no value image.repository')
  values.setIn(['image', 'repository'], repository)
  writeFileSync(join(chart, 'values.yaml'), values.toString({ lineWidth: 0 }))
  return chart
}

function installYaml(chart: string, folder: string): string {
  const values = join(folder, 'values.yaml')
  writeFileSync(values, stringify(VALUES))
  const args = ['template', 'pipewright', chart, '--namespace', NAMESPACE, '--values', values]
  const rendered = helm([...args, '--skip-tests', '--kube-version', KUBERNETES])
  const namespace = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  }
  return `${HEADER}---\n${stringify(namespace)}${rendered}`
}

function helm(args: readonly string[]): string {
  return execFileSync('helm', args, { encoding: 'utf8' })
}

const [into, image, digest] = process.argv.slice(2)
if (into === undefined || image === undefined || digest === undefined)
  throw new Error('usage: chart.ts FOLDER IMAGE DIGEST')
if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`"${digest}" is no digest`)

const folder = mkdtempSync(join(tmpdir(), 'pipewright-chart-'))
try {
  const chart = releasedChart(folder, image, digest)
  mkdirSync(into, { recursive: true })
  helm(['package', chart, '--destination', folder])
  const { version } = packageJson
  // The npm package has the name that helm gives.
  renameSync(join(folder, `pipewright-${version}.tgz`), join(folder, `pipewright-chart-${version}.tgz`))
  cpSync(
    join(folder, `pipewright-chart-${version}.tgz`),
    join(resolve(into), `pipewright-chart-${version}.tgz`),
  )
  writeFileSync(join(into, 'install.yaml'), installYaml(chart, folder))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
