import { cpSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments, stringify } from 'yaml'
import packageJson from '../../../package.json' with { type: 'json' }
import { ROOT } from '../../support/process.ts'
import { run, runWell, tool, type Ended } from './tools.ts'

export const CHART = join(ROOT, 'helm')

/** Where sets of values are, each with what the chart makes of it. */
export const GOLDEN = join(ROOT, 'test/slow/golden/chart')

export function valueSets(): readonly string[] {
  return readdirSync(GOLDEN)
    .filter((name) => name.endsWith('.values.yaml'))
    .map((name) => name.slice(0, -'.values.yaml'.length))
    .toSorted()
}

export function valuesFile(set: string): string {
  return join(GOLDEN, `${set}.values.yaml`)
}

/** As far as tests look into one; kubectl-validate looks at the shapes. */
export interface KubernetesObject {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
  readonly spec?: unknown
  readonly data?: unknown
}

const KNOWN_HELMS = ['helm', 'helm3'] as const

export type Helm = (typeof KNOWN_HELMS)[number]

/** The versions of Helm that the chart is held to; the variable HELM names one of them alone. */
export const HELMS = KNOWN_HELMS.filter((name) => (process.env['HELM'] ?? name) === name)

/** That which a test asks when one is enough. */
const HELM = HELMS[0] ?? 'helm'

/** Release `demo`, unless said otherwise, in the namespace `data`. Helm 3 takes the cluster for a very old one unless it is said. */
function templateArgs(chart: string, values: readonly string[], release = 'demo'): readonly string[] {
  return ['template', release, chart, '--namespace', 'data', '--kube-version', '1.30', ...values]
}

/** What the chart makes of files of values; the text as helm prints it. */
export async function render(...files: readonly string[]): Promise<string> {
  return renderWith(HELM, ...files)
}

export async function renderWith(helm: Helm, ...files: readonly string[]): Promise<string> {
  const values = files.flatMap((file) => ['--values', file])
  return runWell(tool(helm), templateArgs(CHART, values))
}

export interface Trial {
  readonly helm?: Helm
  /** Another chart, such as one that has ours as a dependency. */
  readonly chart?: string
  readonly more?: readonly string[]
  readonly release?: string
}

/** The same with values of a test, which need not be accepted. @param folder for the file of values */
export async function tryValues(
  folder: string,
  values: object,
  { helm = HELM, chart = CHART, more = [], release }: Trial = {},
): Promise<Ended> {
  const file = join(mkdtempSync(join(folder, 'values-')), 'values.yaml')
  writeFileSync(file, stringify(values))
  return run(tool(helm), templateArgs(chart, ['--values', file, ...more], release))
}

/** What it makes of values that have to be accepted. */
export async function renderValues(folder: string, values: object, trial: Trial = {}): Promise<string> {
  const { code, stdout, stderr } = await tryValues(folder, values, trial)
  if (code !== 0) throw new Error(`helm refused: ${stderr}`)
  return stdout
}

/** Values that work; those of a case come on top. */
export const GOOD = {
  platform: { baseUrl: 'https://api.example' },
  source: { configMap: 'pipes' },
  credentials: [{ name: 'analytics-api' }],
}

/** Manifests from Git in place of a ConfigMap. */
export function fromGit(git: object = {}) {
  return { source: { configMap: '', git: { repository: 'https://git.example/p.git', ...git } } }
}

/** All objects that the chart can make. */
export const EVERYTHING = {
  platform: { baseUrl: 'https://api.example', alertsBaseUrl: 'https://alerts.example' },
  source: { git: { repository: 'https://git.example/p.git' } },
  credentials: [{ name: 'analytics-api' }],
  adminToken: { secretName: 'admin' },
  ingress: { enabled: true, hosts: ['pipes.example'] },
  httpRoute: { enabled: true, hostnames: ['pipes.example'], parentRefs: [{ name: 'gateway' }] },
  networkPolicy: { people: [{ podSelector: {} }] },
  podDisruptionBudget: { enabled: true },
  serviceMonitor: { enabled: true },
  prometheusRule: { enabled: true },
  dashboard: { enabled: true },
}

/** A chart that has ours as a dependency, as `helm dependency build` leaves it; under other names where they are given. */
export function parentChart(folder: string, ...aliases: readonly string[]): string {
  const parent = mkdtempSync(join(folder, 'parent-'))
  mkdirSync(join(parent, 'templates'))
  const dependencies = (aliases.length === 0 ? [undefined] : aliases).map((alias) => ({
    name: 'pipewright',
    version: packageJson.version,
    condition: `${alias ?? 'pipewright'}.enabled`,
    ...(alias === undefined ? {} : { alias }),
  }))
  writeFileSync(
    join(parent, 'Chart.yaml'),
    stringify({ apiVersion: 'v2', name: 'platform', version: '1.0.0', dependencies }),
  )
  cpSync(CHART, join(parent, 'charts/pipewright'), { recursive: true })
  return parent
}

/** What was rendered, when Kubernetes would accept it. */
export async function validated(folder: string, rendered: string): Promise<string> {
  const file = join(mkdtempSync(join(folder, 'rendered-')), 'objects.yaml')
  writeFileSync(file, rendered)
  const args = [file, '--local-crds', join(import.meta.dirname, 'chart-crds'), '--version', '1.30']
  const { code, stdout, stderr } = await run(tool('kubectl-validate'), args)
  if (code !== 0) throw new Error(stdout + stderr)
  return rendered
}

/** What it makes of values, if Kubernetes would accept it. */
export async function renderValid(folder: string, values: object, trial: Trial = {}): Promise<string> {
  return validated(folder, await renderValues(folder, values, trial))
}

/** Members of both; the second wins. */
export function overlay(base: object, more: object): object {
  const merged = Object.entries(more).map(([key, value]: [string, unknown]) => {
    const before = (base as Record<string, unknown>)[key]
    const both = [before, value].every(
      (part) => typeof part === 'object' && part !== null && !Array.isArray(part),
    )
    return [key, both ? overlay(before as object, value as object) : value]
  })
  return { ...base, ...(Object.fromEntries(merged) as object) }
}

export function objectsIn(rendered: string): readonly KubernetesObject[] {
  return parseAllDocuments(rendered, { version: '1.1' })
    .map((document) => {
      if (document.errors[0] !== undefined) throw document.errors[0]
      return document.toJS() as KubernetesObject | null
    })
    .filter((object) => object !== null)
}

/** The one object of a kind. */
export function objectOf(rendered: string, kind: string): KubernetesObject {
  const [found, ...more] = objectsIn(rendered).filter((object) => object.kind === kind)
  if (found === undefined || more.length > 0) throw new Error(`there is not exactly one ${kind}`)
  return found
}

export interface PodContainer {
  readonly name: string
  readonly image: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[]
  readonly [field: string]: unknown
  readonly securityContext?: Readonly<Record<string, unknown>>
  readonly volumeMounts?: readonly {
    readonly name: string
    readonly mountPath: string
    readonly readOnly?: boolean
  }[]
}

export interface PodSpec {
  readonly containers: readonly PodContainer[]
  readonly securityContext?: Readonly<Record<string, unknown>>
  readonly terminationGracePeriodSeconds?: number
  readonly volumes?: readonly Readonly<Record<string, unknown>>[]
  readonly [field: string]: unknown
}

const MAKES_PODS: readonly string[] = ['StatefulSet', 'Deployment']

/** The pods of all objects that make or are one. */
export function podsIn(rendered: string): readonly PodSpec[] {
  return objectsIn(rendered).flatMap(({ kind, spec }): readonly PodSpec[] => {
    if (kind === 'Pod') return [spec as PodSpec]
    return MAKES_PODS.includes(kind) ? [(spec as { template: { spec: PodSpec } }).template.spec] : []
  })
}
