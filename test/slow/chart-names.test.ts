import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  CHART,
  EVERYTHING,
  fromGit,
  GOOD,
  objectOf,
  objectsIn,
  overlay,
  podsIn,
  renderValues,
  validated,
} from './support/chart.ts'
import { runWell, tool } from './support/tools.ts'
import { folderForFile } from '../support/folders.ts'

/* Names and labels that are allowed where they are given, and have to be so where the chart puts them. */

const folder = folderForFile()

async function renderAs(release: string, values: object, namespace = 'data'): Promise<string> {
  const file = join(mkdtempSync(join(folder, 'values-')), 'values.json')
  writeFileSync(file, JSON.stringify(values))
  const place = ['--namespace', namespace, '--kube-version', '1.30', '--values', file]
  return validated(folder, await runWell(tool('helm'), ['template', release, CHART, ...place]))
}

describe('the names of the objects', () => {
  test.each([
    ['a release with dots', 'pipes.eu.1', 'pipes-eu-1-pipewright'],
    ['the longest release', `${'r'.repeat(52)}1`, 'r'.repeat(50)],
    ['a release called after the chart', 'pipewright.eu', 'pipewright-eu'],
  ])('are names of a Service: %s', async (_why, release, name) => {
    const objects = objectsIn(await renderAs(release, EVERYTHING))
    expect(objects.length).toBeGreaterThan(10)
    for (const { metadata } of objects) {
      expect(metadata.name).toMatch(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/)
      expect(metadata.name.startsWith(name)).toBe(true)
      expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/instance': release })
    }
  })

  test('are texts, also where they look like something else', async () => {
    const named = {
      ...EVERYTHING,
      fullnameOverride: 'x',
      nameOverride: '123',
      clusterDomain: '123',
      source: { git: { repository: 'https://git.example/p.git', token: { secretName: '123' } } },
      platform: { baseUrl: 'https://api.example' },
      adminToken: { secretName: 'true', key: '1' },
      credentials: [{ name: 'a', secretName: '0x1f' }],
      tls: { ca: { configMap: '1e3' }, clientCertificate: { secretName: 'y' } },
      proxy: { secretName: '123' },
      ledger: { existingClaim: '123' },
      serviceAccount: { name: '123' },
      podSpecExtra: { priorityClassName: '123' },
      ingress: { enabled: true, hosts: ['pipes.example'], className: '123' },
    }
    const rendered = await renderAs('123', named, '123')
    for (const { metadata } of objectsIn(rendered)) expect(metadata).toMatchObject({ namespace: '123' })
    expect(podsIn(rendered)[0]).toMatchObject({ priorityClassName: '123', serviceAccountName: '123' })
    await renderAs(
      '123',
      { ...GOOD, fullnameOverride: 'x', ledger: { size: '1', storageClassName: '123' } },
      '123',
    )
  })
})

test('two releases of one name, whose ServiceMonitors are in one namespace, have one each', async () => {
  const values = { ...EVERYTHING, serviceMonitor: { enabled: true, namespace: 'monitoring' } }
  const names = await Promise.all(
    ['blue', 'n'.repeat(60)].map(async (namespace) => {
      const { metadata } = objectOf(await renderAs('demo', values, namespace), 'ServiceMonitor')
      expect(metadata).toMatchObject({ namespace: 'monitoring' })
      return metadata.name
    }),
  )
  expect(names).toEqual(['blue-demo-pipewright', `${'n'.repeat(60)}-demo-pipewright`])
})

describe('labels', () => {
  test('of one name, said for all and for one: the nearer wins, and none is there twice', async () => {
    const labels = { team: 'all' }
    const own = { labels: { team: 'own' } }
    const values = overlay(EVERYTHING, {
      commonLabels: labels,
      podLabels: { team: 'own' },
      podAnnotations: { 'kubectl.kubernetes.io/default-container': 'git-sync' },
      serviceMonitor: own,
      prometheusRule: own,
      dashboard: own,
    })
    const rendered = await validated(folder, await renderValues(folder, values)) // a name that is there twice cannot be read
    const teams = Map.groupBy(objectsIn(rendered), ({ metadata }) => metadata.labels?.['team'])
    expect(new Set(teams.keys())).toEqual(new Set(['all', 'own']))
    expect(
      teams
        .get('own')
        ?.map(({ kind }) => kind)
        .toSorted(),
    ).toEqual(['ConfigMap', 'PrometheusRule', 'ServiceMonitor'])
    expect(objectOf(rendered, 'StatefulSet').spec).toMatchObject({
      template: {
        metadata: {
          labels: { team: 'own' },
          annotations: { 'kubectl.kubernetes.io/default-container': 'git-sync' },
        },
      },
    })
  })

  test.each([
    ['longer than a label', `v1-${'a'.repeat(80)}`, `v1-${'a'.repeat(60)}`],
    ['with an end that no label has', `_${'a'.repeat(61)}-x`, 'a'.repeat(61)],
  ])('name a tag that is %s', async (_why, tag, label) => {
    const rendered = await renderValues(folder, { ...GOOD, image: { tag } })
    expect(objectOf(rendered, 'StatefulSet').metadata.labels).toMatchObject({
      'app.kubernetes.io/version': label,
    })
    expect(rendered).toContain(`image: pipewright:${tag}\n`)
  })
})

test('the port of an address in capitals is let out', async () => {
  const values = {
    ...overlay(GOOD, fromGit()),
    platform: { baseUrl: 'HTTPS://api.example', alertsBaseUrl: 'Https://a.example:8443' },
  }
  expect(
    objectsIn(await renderValues(folder, values)).find(({ kind }) => kind === 'NetworkPolicy')?.spec,
  ).toMatchObject({
    egress: expect.arrayContaining([
      expect.objectContaining({
        ports: [
          { port: 443, protocol: 'TCP' },
          { port: 8443, protocol: 'TCP' },
        ],
      }),
    ]) as unknown,
  })
})

test.each([
  ['null', null, undefined],
  ['empty', '', ''],
  ['a name', 'fast', 'fast'],
])('the storage class as Kubernetes means it: %s', async (_why, storageClassName, said) => {
  const { spec } = objectOf(
    await renderValues(folder, { ...GOOD, ledger: { storageClassName } }),
    'StatefulSet',
  )
  const [claim] = (spec as { volumeClaimTemplates: readonly { spec: { storageClassName?: string } }[] })
    .volumeClaimTemplates
  expect(claim?.spec.storageClassName).toBe(said)
})

test('the pod of `helm test` gets to the nodes that the pod gets to', async () => {
  const place = { nodeSelector: { arch: 'arm64' }, tolerations: [{ key: 'data', operator: 'Exists' }] }
  const pods = podsIn(await renderValues(folder, { ...GOOD, podSpecExtra: place }))
  expect(pods).toHaveLength(2)
  for (const pod of pods) expect(pod).toMatchObject(place)
})
