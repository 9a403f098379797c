import { expect, test } from 'vitest'
import { ENDPOINT, OTHER_SERVICE_ID, SERVICE, serviceManifest } from '../support/manifests.ts'
import { createScenario, type Scenario } from './scenario.ts'

/* With the real program, over a restart: while somebody's manifest has a mistake, or is edited, another one does not take its place. */

const HERS = ENDPOINT.replace('name: analytics', 'name: hers').replace(
  'https://app.example',
  'https://hers.example',
)

/** Origins that were asked for, in order. */
function origins({ platform }: Scenario): readonly string[] {
  return platform
    .requests()
    .filter(({ method, path }) => method === 'POST' && path.endsWith('/serviceQueryEndpoint'))
    .map(({ body }) => (body as { allowedOrigins: string }).allowedOrigins) // the sandbox keeps it as it came
}

test('another query endpoint of the service is not applied while the first one cannot be read', async () => {
  await using scenario = await createScenario()
  const { workspace } = scenario
  workspace.write('manifests/endpoint.yaml', ENDPOINT)
  const first = await scenario.start()
  await first.says('QueryEndpoint/analytics', 'Ready')
  await first.stop()
  workspace.write('manifests/endpoint.yaml', `${ENDPOINT}  x: [`)
  workspace.write('manifests/a.yaml', HERS)
  const second = await scenario.start()
  expect((await second.says('QueryEndpoint/hers', 'Invalid')).message).toContain(
    'QueryEndpoint/analytics at endpoint.yaml:',
  )
  workspace.write('manifests/endpoint.yaml', ENDPOINT)
  await second.says('QueryEndpoint/analytics', 'Ready')
  await second.says('QueryEndpoint/hers', 'Invalid')
  expect(origins(scenario)).toEqual(['https://app.example'])
})

test('another Service of the name is not used while the first one has a mistake, also after a restart', async () => {
  await using scenario = await createScenario()
  const { workspace } = scenario
  scenario.writePipe('orders')
  const first = await scenario.start()
  await first.says('Pipe/orders', 'Ready')
  await first.reads(() => workspace.write('manifests/service.yaml', SERVICE.replace('spec:', 'spek:')))
  await first.says('Service/analytics', 'Invalid')
  await first.stop()
  const other = serviceManifest({ name: 'analytics', serviceId: OTHER_SERVICE_ID, secret: 'analytics-api' })
  workspace.write('manifests/a.yaml', other)
  const second = await scenario.start()
  scenario.writePipe('fresh')
  expect((await second.says('Pipe/fresh', 'ServiceInvalid')).message).toContain('Service/analytics')
  workspace.write('manifests/service.yaml', SERVICE)
  await second.says('Pipe/fresh', 'Ready')
  expect(scenario.creates()).toEqual(['orders', 'fresh'])
})
