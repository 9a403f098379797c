import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CREDENTIAL, SERVICE } from '../support/manifests.ts'
import { until } from '../support/until.ts'
import { createRoot, emptyVolume, projected, startFromPod } from './support/chart-pod.ts'
import { allReady, creates, ends, pipe, podsOf, startPlatform } from './support/chart-world.ts'
import { folderForFile } from '../support/folder-for-file.ts'

const folder = folderForFile()

test('in diagnostic mode the pod waits, commands in it have the ledger and the platform, and SIGTERM ends it', async () => {
  const place = join(folder, 'diagnostic')
  const values = {
    platform: { baseUrl: 'http://127.0.0.1:9000' },
    source: { configMap: 'pipes' },
    credentials: [{ name: 'analytics-api' }],
    ledger: { existingClaim: 'ledger' },
  }
  const [usual] = await podsOf(values, place)
  const [waiting] = await podsOf({ ...values, diagnosticMode: true }, place)
  const root = createRoot(place)
  const volumes = {
    ledger: emptyVolume(join(place, 'ledger')),
    manifests: projected(join(place, 'manifests'), {
      'service.yaml': SERVICE,
      'orders.yaml': pipe('orders'),
    }),
    'credential-analytics-api': projected(join(place, 'secret'), CREDENTIAL),
  }
  await using platform = await startPlatform(root, place)
  {
    await using daemon = await startFromPod({
      root,
      pod: usual,
      volumes,
      name: 'pipewright',
      network: platform,
    })
    await allReady(daemon, ['Service/analytics', 'Pipe/orders'])
    await ends(daemon)
  }
  await using pod = await startFromPod({ root, pod: waiting, volumes, name: 'pipewright', network: platform })
  await until('the container to wait', () => pod.stdout().includes('no daemon runs'))
  const asked = (command: string) => pod.exec(['node', '/app/src/main.ts', command])
  expect(await asked('status')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/Pipe\/orders +Ready/) as string,
  })
  expect(await asked('plan')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('No changes: 2 unchanged') as string,
  })
  expect(await asked('apply')).toMatchObject({ code: 0 })
  expect(await creates(platform)).toBe(1)
  await ends(pod)
})
