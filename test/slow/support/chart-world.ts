import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { stringify } from 'yaml'
import { CREDENTIAL, ORGANIZATION, SERVICE_ID } from '../../support/manifests.ts'
import { until } from '../../support/until.ts'
import { objectsIn, podsIn, render, type PodSpec } from './chart.ts'
import { startBeside } from './chart-pod.ts'
import type { Container } from './image-container.ts'

/* What surrounds a pod of the chart that a test starts: the platform, and what is asked of both. */

export function pipe(name: string): string {
  return stringify({
    apiVersion: 'pipewright/v1',
    kind: 'Pipe',
    metadata: { name },
    spec: {
      service: 'analytics',
      source: { kafka: { brokers: 'b-1.example:9092', topics: name } },
      destination: { database: 'default', table: name, columns: [{ name: 'id', type: 'UInt64' }] },
      fieldMappings: [{ sourceField: 'id', destinationField: 'id' }],
    },
  })
}

/** The platform, in the network that the pod's containers share. */
export async function startPlatform(root: string, place: string): Promise<Container> {
  const world = join(place, 'world.yaml')
  writeFileSync(world, stringify({ services: [{ organizationId: ORGANIZATION, serviceId: SERVICE_ID }] }))
  const flags = [
    '--key-id',
    CREDENTIAL.keyId,
    '--key-secret',
    CREDENTIAL.keySecret,
    '--world',
    '/tmp/world.yaml',
  ]
  const platform = await startBeside(
    root,
    ['sandbox', '--listen', '127.0.0.1:9000', ...flags],
    [{ from: place, to: '/tmp', mode: 'ro' }],
  )
  await until('the platform to listen', () => platform.stdout().includes('listens on'))
  return platform
}

export async function ask<T>(container: Container, url: string): Promise<T> {
  const script = `fetch('${url}').then(async (reply) => { console.log(await reply.text()) })`
  const { stdout, stderr } = await container.exec(['node', '-e', script])
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as T // what our own servers answer
}

interface State {
  readonly pipes: readonly { readonly name: string }[]
  readonly requests: readonly { readonly operation: string }[]
}

export async function creates(platform: Container): Promise<number> {
  const { requests } = await ask<State>(platform, 'http://127.0.0.1:9000/-/sandbox/state')
  return requests.filter(({ operation }) => operation === 'createPipe').length
}

export interface Shown {
  readonly items: readonly { readonly key: string; readonly status: string; readonly reason: string }[]
}

export async function allReady(daemon: Container, keys: readonly string[]): Promise<void> {
  await until(`${keys.join(', ')} to be ready\n${daemon.stderr()}`, async () => {
    const { items } = await ask<Shown>(daemon, 'http://127.0.0.1:8080/api/v1/resources')
    return (
      items.length === keys.length &&
      items.every(({ key, status }) => keys.includes(key) && status === 'Ready')
    )
  })
}

export async function ends(container: Container): Promise<void> {
  await container.signal('SIGTERM')
  expect(await container.ended).toBe(0)
}

/** The daemon's pod, and that of `helm test`. */
export async function podsOf(values: object, place: string): Promise<readonly [PodSpec, PodSpec]> {
  const file = join(place, 'values.yaml')
  mkdirSync(place, { recursive: true })
  writeFileSync(file, stringify(values))
  const rendered = await render(file)
  expect(objectsIn(rendered).map(({ kind }) => kind)).toContain('StatefulSet')
  const [pod, check] = podsIn(rendered)
  if (pod === undefined || check === undefined) throw new Error('nothing was rendered')
  return [pod, check]
}
