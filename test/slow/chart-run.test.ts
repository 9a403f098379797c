import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CREDENTIAL, SERVICE } from '../support/manifests.ts'
import { until } from '../support/until.ts'
import { podsIn, render, valueSets, valuesFile } from './support/chart.ts'
import { createRoot, emptyVolume, projected, startFromPod } from './support/chart-pod.ts'
import {
  allReady,
  ask,
  creates,
  ends,
  pipe,
  podsOf,
  startPlatform,
  type Shown,
} from './support/chart-world.ts'
import { parseGitSyncArgs } from './support/git-sync-imitation.ts'
import { createRepository } from './support/git-sync-repository.ts'
import type { Mount } from './support/image-container.ts'
import { folderForFile } from '../support/folders.ts'

const REPOSITORY = 'https://git.example/data/pipes.git'

const TOKEN = 'planted-admin-token-41c'

const IMITATION = ['node', '/app/test/slow/support/git-sync-imitation.ts']

const folder = folderForFile()

test('defaults plus a repository, a base URL and a secret: the rendered pod creates the pipes of a commit, once', async () => {
  const place = join(folder, 'git')
  const [pod, check] = await podsOf(
    {
      platform: { baseUrl: 'http://127.0.0.1:9000' },
      source: { git: { repository: REPOSITORY } },
      credentials: [{ name: 'analytics-api' }],
      adminToken: { secretName: 'admin' },
    },
    place,
  )
  const root = createRoot(place)
  const volumes = {
    ledger: emptyVolume(join(place, 'ledger')),
    git: emptyVolume(join(place, 'checkout')),
    'git-tmp': emptyVolume(join(place, 'git-tmp')),
    'credential-analytics-api': projected(join(place, 'secret'), CREDENTIAL),
    'admin-token': projected(join(place, 'admin'), { token: TOKEN }),
  }
  chmodSync(volumes.git, 0o2777) // an emptyDir is everybody's
  chmodSync(volumes['git-tmp'], 0o2777)
  const repository = createRepository(join(place, 'work'), join(place, 'origin.git'))
  repository.write('service.yaml', SERVICE)
  repository.write('orders.yaml', pipe('orders'))
  const first = repository.commit('orders')
  repository.push()

  await using platform = await startPlatform(root, place)
  const start = () => startFromPod({ root, pod, volumes, name: 'pipewright', network: platform })
  const sync = async () => {
    // git reads only repositories of its own user
    const served = mkdtempSync(join(place, 'served-'))
    execFileSync('cp', ['-r', join(place, 'origin.git'), served])
    execFileSync('chown', ['-R', '65533', served])
    const origin: Mount = { from: join(served, 'origin.git'), to: '/origin.git', mode: 'ro' }
    const env = {
      PIPEWRIGHT_ADMIN_TOKEN: TOKEN,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'url.file:///origin.git.insteadOf',
      GIT_CONFIG_VALUE_0: REPOSITORY,
    }
    await using container = await startFromPod({
      root,
      pod,
      volumes,
      env,
      name: 'git-sync',
      network: platform,
      entrypoint: IMITATION,
      more: [origin],
    })
    const code = await container.ended
    expect(container.stderr()).toBe('')
    expect(container.stdout()).toContain('webhook 202')
    expect(code).toBe(0)
  }
  {
    // It starts before there is a checkout, as containers of a pod do.
    await using daemon = await start()
    await until('the daemon to listen', () => daemon.stdout().includes('"Started"'))
    await sync()
    await allReady(daemon, ['Service/analytics', 'Pipe/orders'])
    expect(daemon.stdout()).toContain(first)

    const env = { HOST: '127.0.0.1' }
    await using helmTest = await startFromPod({
      root,
      pod: check,
      volumes,
      env,
      name: 'ready',
      network: platform,
    })
    expect(await helmTest.ended).toBe(0)
    expect(helmTest.stdout()).toContain('/readyz 200')

    repository.write('refunds.yaml', pipe('refunds'))
    repository.commit('refunds')
    repository.push()
    await sync()
    await allReady(daemon, ['Service/analytics', 'Pipe/orders', 'Pipe/refunds'])
    expect(await daemon.exec(['node', '/app/src/main.ts', 'status'])).toMatchObject({ code: 0 })
    expect(daemon.stdout() + daemon.stderr()).not.toContain(TOKEN)
    expect(await daemon.status()).toMatchObject({ CapEff: '0'.repeat(16), NoNewPrivs: '1' })
    await ends(daemon)
  }
  expect(await creates(platform)).toBe(2)
  {
    await using daemon = await start()
    await allReady(daemon, ['Service/analytics', 'Pipe/orders', 'Pipe/refunds'])
    await ends(daemon)
  }
  expect(await creates(platform)).toBe(2)
  expect(readdirSync(volumes.ledger)).toContain('ledger.db')
})

test('manifests of a ConfigMap, and a Secret that comes later: named, then taken', async () => {
  const place = join(folder, 'config-map')
  const [pod] = await podsOf(
    {
      platform: { baseUrl: 'http://127.0.0.1:9000' },
      source: { configMap: 'pipes' },
      credentials: [{ name: 'analytics-api', secretName: 'other' }],
      ledger: { existingClaim: 'ledger' },
    },
    place,
  )
  const root = createRoot(place)
  const secret = emptyVolume(join(place, 'secret'))
  const volumes = {
    ledger: emptyVolume(join(place, 'ledger')),
    manifests: projected(join(place, 'manifests'), {
      'service.yaml': SERVICE,
      'orders.yaml': pipe('orders'),
    }),
    'credential-analytics-api': secret,
  }
  await using platform = await startPlatform(root, place)
  await using daemon = await startFromPod({ root, pod, volumes, name: 'pipewright', network: platform })
  await until('the missing secret to be named', async () => {
    const { items } = await ask<Shown>(daemon, 'http://127.0.0.1:8080/api/v1/resources')
    return items.some(({ key, reason }) => key === 'Pipe/orders' && reason === 'SecretUnavailable')
  })
  expect(await creates(platform)).toBe(0)
  projected(secret, CREDENTIAL)
  await daemon.signal('SIGHUP')
  await allReady(daemon, ['Service/analytics', 'Pipe/orders'])
  await ends(daemon)
  expect(await creates(platform)).toBe(1)
})

test('every flag that the chart gives git-sync is one of git-sync v4', async () => {
  const lines = await Promise.all(
    valueSets().map(async (set) =>
      podsIn(await render(valuesFile(set))).flatMap(({ containers }) => containers),
    ),
  )
  const sidecars = lines.flat().filter(({ name }) => name === 'git-sync')
  expect(sidecars.length).toBeGreaterThan(3)
  for (const { args = [] } of sidecars) {
    expect(parseGitSyncArgs(args)).toMatchObject({ root: '/git', link: 'current', 'max-failures': '-1' })
  }
})
