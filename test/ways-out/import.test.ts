import { describe, expect, test } from 'vitest'
import { httpServer } from '../platform/support/server.ts'
import { pipeBody, SERVICE_ID } from '../support/manifests.ts'
import { given } from './given.ts'
import { play, story } from './story.ts'

const ID = '9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d'

/** A platform with one pipe, as odd as it likes. */
function platformWith(pipe: object) {
  const result = { id: ID, serviceId: SERVICE_ID, state: 'Running', ...pipe }
  return httpServer((response) =>
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ status: 200, requestId: ID, result })),
  )
}

const ODD = {
  ...pipeBody('orders'),
  owner: 'me',
  ssh: { 'x\nspec: evil': 'a\nb' },
  scaling: { replicas: -1, autoscale: true },
  settings: null,
  fieldMappings: [{ sourceField: 'id' }],
}

const LEFT_OUT = [
  ['spec.scaling.autoscale', 'A manifest has no such field.', true],
  ['spec.owner', 'A manifest has no such field.', true],
  ['spec.ssh', 'A manifest has no such field.', true],
  ['spec.settings', 'It is null.'],
  ['spec.fieldMappings', '"destinationField" of item 1 is missing.'],
  ['spec.scaling.replicas', 'It must be at least 0.'],
  ['spec.destination.columns', 'The field mappings do not cover the column "id".'],
]

const IMPORT = `import Pipe/orders ${ID} --service analytics`

/** Commands against a platform with this pipe, whose address they get. */
async function oddStory(pipe: object, steps: (at: string) => string): Promise<void> {
  await using platform = await platformWith(pipe)
  await story('', steps(`${IMPORT} --base-url ${platform.url}`))
}

describe('import of a pipe that no manifest can have as it is', () => {
  test('prints what validates, and names the rest', () =>
    oddStory(
      ODD,
      (at) => `${at} ${LEFT_OUT.map(([path, why]) => `| Pipe/orders: ${path} is left out. ${why}`).join(' ')}
      | pipewright: No secret is written.
      | Comments on top of a manifest, if any, name the secrets to mount and the values to fill in.
      | pipewright: Next, run "pipewright plan". It must say "adopt" for each manifest. …remove policy.adopt
      | # No secret is written here. | # spec.scaling.autoscale # spec.owner
      keep orders
      validate`,
    ))

  test('with -o json: the manifest, what is left out of it, and the secrets to be mounted', async () => {
    await using platform = await platformWith(ODD)
    await using world = await given()
    const args = [...IMPORT.split(' '), '--base-url', platform.url, '-o', 'json']
    const shown = JSON.parse((await world.command(...args)).stdout) as Record<string, unknown>
    expect(shown['leftOut']).toEqual(LEFT_OUT.map(([path, why, isUnknown]) => ({ path, why, isUnknown })))
    expect(shown['secrets']).toContainEqual({
      path: 'spec.source.kafka.credentials.password',
      ref: { name: 'orders', key: 'password' },
    })
    world.workspace.write('manifests/orders.json', JSON.stringify(shown['manifest']))
    await play(world, 'validate')
  })

  test('without a source that is known, it says that there can be none', () =>
    oddStory(
      { name: 'orders', source: { carrierPigeon: {} } },
      (at) => `${at} => 1 | not: kind: Pipe
      | pipewright: import: no manifest can be made of ${ID} ("orders"). A manifest needs spec.source.
      | It is missing. Write one, with policy.adopt: ${ID}.`,
    ))
})

describe('import holds its manifest against the others', () => {
  test('the secret of a Service is not that of a pipe of the same name', () =>
    story(
      '',
      `make orders
      import Pipe/analytics-api {orders} --service analytics | name: analytics-api-source
      keep imported
      validate`,
    ))

  test.each([
    ['another manifest adopts it', 'write others policy.adopt={orders}', 'already: others.yaml:1.'],
    ['a Lock says that it is that of another key', 'locked Pipe/others={orders}', 'already.'],
  ])('refused: %s', (_why, claim, says) =>
    story(
      '',
      `make orders
      ${claim}
      import Pipe/orders {orders} --service analytics => 1 | not: kind: Pipe
      | pipewright: import: {orders} belongs to Pipe/others ${says}`,
    ),
  )
})
