import { describe, expect, test } from 'vitest'
import { openLedger } from '../../src/ledger/open.ts'
import { openAt } from '../kubernetes/open-at.ts'
import { withRealApi, type RealApi } from '../kubernetes/real-api.ts'
import { blank, CLOCK, entry, ignore, ORDERS } from '../ledger/samples.ts'
import { MAIN } from '../support/process.ts'
import type { Workspace } from '../support/workspace.ts'
import { CHART, HELMS, valuesFile, type Helm } from './support/chart.ts'
import { run, tool, type Ended } from './support/tools.ts'

/* A release whose ledger moves from a file into the cluster and back, as the README of the chart says, at a real API. */

let api: RealApi
let workspace: Workspace

withRealApi((...given) => {
  ;[api, workspace] = given
})

describe.each(HELMS)('%s', (helm) => {
  test('a ledger moves only while no daemon runs, and once it was imported', async () => {
    const namespace = `${helm}-moves`
    const metadata = { name: namespace }
    await api.request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata })
    const upgrade = (...values: readonly string[]) => upgraded(helm, namespace, values)
    const kinds = async () => {
      const found = await Promise.all(
        ['statefulsets', 'deployments'].map(async (kind) => {
          const { status } = await api.request(
            'GET',
            `/apis/apps/v1/namespaces/${namespace}/${kind}/pipewright`,
          )
          return status === 200 ? [kind] : []
        }),
      )
      return found.flat()
    }
    const refused = async (says: string, ...values: readonly string[]) => {
      const before = await kinds()
      const { code, stderr } = await upgrade(...values)
      expect(code).not.toBe(0)
      expect(stderr).toContain(says)
      expect(await kinds()).toEqual(before)
    }
    const well = async (kind: string, ...values: readonly string[]) => {
      const { code, stderr } = await upgrade(...values)
      expect(code, stderr).toBe(0)
      expect(await kinds()).toEqual([kind])
    }

    await well('statefulsets')
    await claim(namespace)
    await refused('works with it', 'ledger.type=kubernetes')
    await well('statefulsets', 'diagnosticMode=true')
    await well('deployments', 'diagnosticMode=true', 'ledger.type=kubernetes')
    await refused('Import it first', 'ledger.type=kubernetes')
    await move(namespace)
    await well('deployments', 'ledger.type=kubernetes')
    // Nothing of the chart is asked: what keeps the pod that comes back from acting is the mark.
    await rolledBack(helm, namespace, '1')
    expect(await kinds()).toEqual(['statefulsets'])
    await rolledBack(helm, namespace, '4')
    expect(await kinds()).toEqual(['deployments'])
    await well('deployments', 'ledger.type=kubernetes', 'replicaCount=3')
    await refused('would put a Deployment other', 'ledger.type=kubernetes', 'fullnameOverride=other')

    await refused('Set ledger.type back to kubernetes')
    await well('deployments', 'ledger.type=kubernetes', 'diagnosticMode=true')
    await well('statefulsets', 'diagnosticMode=true')
    await well('statefulsets')
  })
})

function upgraded(helm: Helm, namespace: string, values: readonly string[]): Promise<Ended> {
  const args = ['upgrade', 'pipewright', CHART, '--install', '--namespace', namespace]
  const set = values.flatMap((value) => ['--set', value])
  const env = { ...process.env, KUBECONFIG: api.kubeconfig }
  return run(tool(helm), [...args, '--values', valuesFile('minimal'), ...set], { env })
}

async function rolledBack(helm: Helm, namespace: string, revision: string): Promise<void> {
  const env = { ...process.env, KUBECONFIG: api.kubeconfig }
  const { code, stderr } = await run(
    tool(helm),
    ['rollback', 'pipewright', revision, '--namespace', namespace],
    { env },
  )
  expect(code, stderr).toBe(0)
}

/** What the controller of StatefulSets would have made. */
async function claim(namespace: string): Promise<void> {
  const { status } = await api.request('POST', `/api/v1/namespaces/${namespace}/persistentvolumeclaims`, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'ledger-pipewright-0' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  })
  expect(status).toBe(201)
}

/** As in a pod that waits: with the program, from the file of the one to the records of the other. */
async function move(namespace: string): Promise<void> {
  const file = `sqlite:${workspace.path(`${namespace}.db`)}`
  const { ledger } = await openLedger(file, { mode: 'owner', init: 'auto', clock: CLOCK, emit: ignore })
  const written = await ledger.swap(blank(ORDERS), [entry(ORDERS, 'made')])
  await ledger[Symbol.asyncDispose]()
  const place = `${namespace}/pipewright`
  const env = { ...process.env, KUBECONFIG: api.kubeconfig }
  for (const [action, url, ...flags] of [
    ['export', file, '--move'],
    ['import', `kubernetes:${place}`],
  ] as const) {
    const words = ['ledger', action, workspace.path(`${namespace}.ndjson`), '--ledger', url, ...flags]
    expect(await run(process.execPath, [MAIN, ...words], { env })).toMatchObject({ code: 0 })
  }
  await using moved = (await openAt(api, workspace, { place, mode: 'reader' })).ledger
  expect(await moved.list()).toEqual([written])
  await expect(openLedger(file, { mode: 'owner', init: 'auto', clock: CLOCK, emit: ignore })).rejects.toThrow(
    'was moved to another ledger',
  )
}
