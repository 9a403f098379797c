import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../../src/daemon/system-clock.ts'
import type { Event } from '../../src/contract/events.ts'
import { LedgerConflict, LedgerError, type OpenedLedger } from '../../src/contract/ledger.ts'
import { NotLeading } from '../../src/contract/leadership.ts'
import { openClusterAccess } from '../../src/ledger/kubernetes/cluster-access.ts'
import { createClusterApi } from '../../src/ledger/kubernetes/cluster-api.ts'
import { readClusterArchive } from '../../src/ledger/kubernetes/cluster-archive.ts'
import type { KubernetesLedgerOptions } from '../../src/ledger/kubernetes/open-kubernetes-ledger.ts'
import { describeClusterLedger, type Cluster } from '../kubernetes/cluster-contract.ts'
import { openAt, writeKubeconfig, type Place } from '../kubernetes/open-at.ts'
import { withRealApi, type RealApi } from '../kubernetes/real-api.ts'
import { describeLeadership } from '../ledger/leadership-contract.ts'
import { describeLedger } from '../ledger/ledger-contract.ts'
import { blank, entry, ORDERS } from '../ledger/samples.ts'
import { MAIN } from '../support/process.ts'
import { until } from '../support/until.ts'
import type { Workspace } from '../support/workspace.ts'
import { GOOD, objectsIn, overlay, podsIn, renderValues, type KubernetesObject } from './support/chart.ts'
import { run } from './support/tools.ts'

/* The rights that the chart gives, at a real API: they are enough for all that is promised of a ledger, and each of them is needed. */

const IN_CLUSTER = overlay(GOOD, { ledger: { type: 'kubernetes' } })

const RECORDS = '/apis/pipewright.dev/v1/namespaces/data/pipewrightrecords'

let api: RealApi
let workspace: Workspace

withRealApi(async (...given) => {
  ;[api, workspace] = given
  await asked('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'data' },
  })
})

async function asked(...request: Parameters<RealApi['request']>): Promise<Readonly<Record<string, unknown>>> {
  const { status, body } = await api.request(...request)
  if (status >= 300) throw new Error(`${request[0]} ${request[1]}: ${JSON.stringify(body)}`)
  return body
}

/** A right of the chart's Role: a verb, and what it is for. */
interface Right {
  readonly verb: string
  readonly group: string
  readonly resource: string
  /** Of the one object that it is for. */
  readonly name?: string
}

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

interface Role extends KubernetesObject {
  readonly rules: readonly Rule[]
}

/** Those that a Role gives, each by itself. */
function rightsOf({ rules }: Role): readonly Right[] {
  return rules.flatMap(({ apiGroups, resources, resourceNames = [undefined], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        resourceNames.flatMap((name) =>
          verbs.map((verb) => ({ verb, group, resource, ...(name !== undefined && { name }) })),
        ),
      ),
    ),
  )
}

const PATHS: Readonly<Record<string, string>> = {
  ServiceAccount: '/api/v1/namespaces/data/serviceaccounts',
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/data/roles',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/namespaces/data/rolebindings',
}

/** A release of the chart, as far as it is about rights; and what its pods would ask the API with. */
interface Release extends Place {
  /** Of the release, and of the ledger. */
  readonly name: string
  readonly rights: readonly Right[]
}

/** @param taken what is left out of its Role */
async function install(taken?: (right: Right) => boolean): Promise<Release> {
  const release = `pipewright-${randomUUID().slice(0, 8)}`
  const objects = objectsIn(await renderValues(workspace.dir, IN_CLUSTER, { release }))
  const role = objects.find(({ kind }) => kind === 'Role') as Role
  const all = rightsOf(role)
  const rights = all.filter((right) => taken?.(right) !== true)
  const rules = rights.map(({ verb, group, resource, name }) => ({
    apiGroups: [group],
    resources: [resource],
    verbs: [verb],
    ...(name !== undefined && { resourceNames: [name] }),
  }))
  for (const object of objects) {
    const path = PATHS[object.kind]
    if (path !== undefined) await asked('POST', path, object === role && taken ? { ...role, rules } : object)
  }
  const { status } = await asked('POST', `${PATHS['ServiceAccount']}/${release}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3_600 },
  })
  const { token } = status as { readonly token: string } // of a TokenRequest
  for (const right of all)
    await until(`the right to ${right.verb} ${right.resource}`, async () => {
      return (await mayDo(release, right)) === rights.includes(right)
    })
  return { url: api.url, ca: api.ca, token, name: release, rights }
}

/** What the API says to whom a release's pods are. */
async function mayDo(release: string, { verb, group, resource, name }: Right): Promise<boolean> {
  const resourceAttributes = { namespace: 'data', verb, group, resource, ...(name !== undefined && { name }) }
  const { status } = await asked('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: `system:serviceaccount:data:${release}`, resourceAttributes },
  })
  return (status as { readonly allowed: boolean }).allowed // of a SubjectAccessReview
}

function openIn(release: Release, options: Partial<KubernetesLedgerOptions> = {}): Promise<OpenedLedger> {
  return openAt(release, workspace, { place: `data/${release.name}`, ...options })
}

async function startNew(): Promise<Cluster> {
  const release = await install()
  return {
    name: release.name,
    clock: systemClock,
    create: async (object) => (await api.request('POST', RECORDS, object)).status,
    open: (options) => openIn(release, options),
    async [Symbol.asyncDispose]() {}, // it ends with the API
  }
}

describe('with the rights of the chart', () => {
  describeClusterLedger('a cluster', startNew)
  describeLeadership('kubernetes: in a cluster', startNew)
  describeLedger('kubernetes: in a cluster', async (emit) => (await openIn(await install(), { emit })).ledger)
})

test('the Role gives nothing else', async () => {
  const { name } = await install()
  const records = { group: 'pipewright.dev', resource: 'pipewrightrecords' }
  const secrets = { group: '', resource: 'secrets' }
  const leases = { group: 'coordination.k8s.io', resource: 'leases' }
  const others: readonly Right[] = [
    ...['delete', 'deletecollection', 'patch'].flatMap((verb) => [
      { ...records, verb },
      { ...secrets, verb, name },
      { ...leases, verb, name },
    ]),
    ...['get', 'list', 'watch', 'update'].flatMap((verb) => [
      { ...secrets, verb },
      { ...leases, verb },
      { ...secrets, verb, name: 'another' },
      { ...leases, verb, name: 'another' },
    ]),
    ...['get', 'create'].flatMap((verb) => [
      { group: '', resource: 'pods', verb },
      { group: '', resource: 'configmaps', verb },
      { group: 'apps', resource: 'deployments', verb },
      { group: 'rbac.authorization.k8s.io', resource: 'roles', verb },
    ]),
  ]
  const given = await Promise.all(others.map(async (right) => ({ right, may: await mayDo(name, right) })))
  expect(given.filter(({ may }) => may)).toEqual([])
})

const STEPS = ['open', 'acquire', 'confirm', 'write', 'write again', 'hear', 'collide', 'export'] as const

type Step = (typeof STEPS)[number]

/** How far it gets, and why no further. */
interface Story {
  readonly done: readonly Step[]
  /** What was said first, by an error or an event, of what may not be done. */
  readonly said: string | undefined
}

const SHORT_MS = 15_000

/** So long that nothing is renewed by itself meanwhile. */
const LEASE_MS = 600_000

/** All that two pods of a release do with a ledger, one after the other, until one step is forbidden. */
async function live(release: Release): Promise<Story> {
  await using stack = new AsyncDisposableStack()
  const done: Step[] = []
  const forbidden = new AbortController()
  const emit = (event: Event) => {
    if ('message' in event && event.message?.includes('is forbidden') === true)
      forbidden.abort(new Error(event.message))
  }
  const open = async () => {
    const opened = await openIn(release, {
      emit,
      platform: 'https://api.example',
      profile: 'default',
      leaseMs: LEASE_MS,
    })
    stack.use(opened.ledger)
    return opened
  }
  const step = async <T>(name: Step, work: () => Promise<T>): Promise<T> => {
    const result = await work()
    forbidden.signal.throwIfAborted()
    done.push(name)
    return result
  }
  try {
    const one = await step('open', open)
    const term = await step('acquire', () => one.leadership.acquire(forbidden.signal, 'wait'))
    await step('confirm', () => term.confirm())
    const first = await step('write', () => one.ledger.swap(blank(ORDERS), [entry(ORDERS, 'made')]))
    await step('write again', () => one.ledger.swap({ ...first, line: 2 }, []))
    const other = await open()
    await step('hear', async () => {
      await one.ledger.swap(blank('Pipe/refunds'), [])
      await until(
        'what the other pod wrote',
        async () => {
          if (forbidden.signal.aborted) return true
          return (await other.ledger.get('Pipe/refunds')) !== undefined
        },
        SHORT_MS,
      )
    })
    await step('collide', async () => {
      // A reader follows no watch, so that its write is always late.
      const writer = await openIn(release, { emit, mode: 'reader' })
      stack.use(writer.ledger)
      const seen = await writer.ledger.get(ORDERS)
      if (seen === undefined) throw new Error('there is no record')
      const ahead = await one.ledger.swap({ ...seen, line: 3 }, [])
      const refused = await writer.ledger.swap({ ...seen, line: 4 }, []).catch((error: unknown) => error)
      if (!(refused instanceof LedgerConflict)) throw refused
      forbidden.signal.throwIfAborted()
      expect(await writer.ledger.get(ORDERS)).toStrictEqual(ahead)
    })
    await step('export', async () => {
      const env = { KUBECONFIG: writeKubeconfig(release, workspace) }
      const archive = await readClusterArchive({ env, place: `data/${release.name}`, clock: systemClock })
      expect(archive.records.map(({ key }) => key)).toEqual([ORDERS, 'Pipe/refunds'])
    })
    await term.release()
    return { done, said: undefined }
  } catch (error) {
    const isExpected = error instanceof LedgerError || error instanceof NotLeading
    if (!isExpected && error !== forbidden.signal.reason) throw error
    return { done, said: (error as Error).message }
  }
}

test('a pod reaches the API with what the chart mounts', async () => {
  const release = await install()
  const rendered = await renderValues(workspace.dir, IN_CLUSTER, { release: release.name })
  const volume = podsIn(rendered)[0]?.volumes?.find(({ name }) => name === 'kubernetes-api')
  const files = { token: release.token, 'ca.crt': readFileSync(api.ca, 'utf8'), 'metadata.namespace': 'data' }
  for (const [from, path] of filesOf(volume)) workspace.write(`account/${path}`, files[from])
  const { hostname, port } = new URL(api.url)
  const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
  const access = await openClusterAccess(env, workspace.path('account'))
  expect(access.namespace).toBe('data')
  await using client = createClusterApi({ access, userAgent: 'test', timeoutMs: 10_000, clock: systemClock })
  const { items } = await client.list(RECORDS)
  expect(items.filter(({ metadata }) => metadata.name.startsWith(`${release.name}.`))).toEqual([])
})

/** What a projected volume takes from where, and what it calls it. */
function filesOf(volume: unknown): readonly (readonly ['token' | 'ca.crt' | 'metadata.namespace', string])[] {
  const { projected } = z
    .object({
      projected: z.object({
        sources: z.tuple([
          z.object({ serviceAccountToken: z.object({ path: z.string() }) }),
          z.object({
            configMap: z.object({
              name: z.literal('kube-root-ca.crt'),
              items: z.tuple([z.object({ key: z.literal('ca.crt'), path: z.string() })]),
            }),
          }),
          z.object({
            downwardAPI: z.object({
              items: z.tuple([
                z.object({
                  fieldRef: z.object({ fieldPath: z.literal('metadata.namespace') }),
                  path: z.string(),
                }),
              ]),
            }),
          }),
        ]),
      }),
    })
    .parse(volume)
  const [{ serviceAccountToken }, { configMap }, { downwardAPI }] = projected.sources
  return [
    ['token', serviceAccountToken.path],
    ['ca.crt', configMap.items[0].path],
    ['metadata.namespace', downwardAPI.items[0].path],
  ]
}

test('with all of them, two pods do all that they do with a ledger', async () => {
  expect(await live(await install())).toEqual({ done: STEPS, said: undefined })
})

async function liveWithout(verb: string, resource: string): Promise<Story> {
  const release = await install((right) => right.verb === verb && right.resource === resource)
  const story = await live(release)
  expect(story.said).toContain('the Kubernetes API answers 403: ')
  expect(story.said).toContain(
    `is forbidden: User "system:serviceaccount:data:${release.name}" cannot ${verb} resource "${resource}"`,
  )
  return story
}

describe('without one of them, it is said what is forbidden, and to whom', () => {
  test.each([
    ['list', 'pipewrightrecords', 'open'],
    ['get', 'pipewrightrecords', 'collide'],
    ['create', 'pipewrightrecords', 'write'],
    ['update', 'pipewrightrecords', 'write again'],
    ['get', 'secrets', 'open'],
    ['create', 'secrets', 'open'],
    ['update', 'secrets', 'acquire'],
    ['get', 'leases', 'acquire'],
    ['create', 'leases', 'acquire'],
    ['update', 'leases', 'confirm'],
  ] as const)('%s %s', async (verb, resource, step) => {
    const { done } = await liveWithout(verb, resource)
    expect(done).toEqual(STEPS.slice(0, STEPS.indexOf(step)))
  })

  test('watch pipewrightrecords: as soon as it begins to', async () => {
    const { done } = await liveWithout('watch', 'pipewrightrecords')
    expect(done.length).toBeLessThan(STEPS.indexOf('collide'))
  })

  test('each right of the Role was taken once', async () => {
    const { rights } = await install()
    expect(rights.map(({ verb, resource }) => `${verb} ${resource}`).toSorted()).toEqual(
      [
        'create leases',
        'create pipewrightrecords',
        'create secrets',
        'get leases',
        'get pipewrightrecords',
        'get secrets',
        'list pipewrightrecords',
        'update leases',
        'update pipewrightrecords',
        'update secrets',
        'watch pipewrightrecords',
      ].toSorted(),
    )
  })
})

async function command(release: Release, ...words: readonly string[]) {
  const env = { ...process.env, KUBECONFIG: writeKubeconfig(release, workspace) }
  const ledger = ['--ledger', `kubernetes:data/${release.name}`]
  return run(process.execPath, [MAIN, ...words, ...ledger], { env, cwd: workspace.dir })
}

describe('commands of a person in the pod', () => {
  test('read the ledger', async () => {
    const release = await install()
    await using ledger = (await openIn(release, { mode: 'owner' })).ledger
    await ledger.swap(blank(ORDERS), [])
    const file = workspace.path('export.ndjson')
    const { code, stdout, stderr } = await command(release, 'ledger', 'export', file)
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('Exported 1 record')
  })

  test('say what is forbidden, and end', async () => {
    const release = await install(({ verb, resource }) => verb === 'get' && resource === 'secrets')
    const { code, stderr } = await command(release, 'ledger', 'export', workspace.path('none.ndjson'))
    expect(code).not.toBe(0)
    expect(stderr).toContain('cannot get resource "secrets"')
  })

  test('that would act do not wait for what is forbidden', async () => {
    const release = await install(({ resource }) => resource === 'leases')
    const { ledger, leadership } = await openIn(release)
    await using _ = ledger
    await expect(leadership.acquire(new AbortController().signal, 'refuse')).rejects.toThrow(
      'cannot get resource "leases"',
    )
  })
})
