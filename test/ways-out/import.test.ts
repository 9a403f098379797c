import { describe, expect, test } from 'vitest'
import { httpServer } from '../platform/support/server.ts'
import { type Ended, runHere } from '../support/command.ts'
import { furnish, pipeBody, pipeManifest, platformArgs, SERVICE_ID } from '../support/manifests.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'

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

const IMPORT = ['import', 'Pipe/orders', ID, '--service', 'analytics']

function given(): Workspace {
  const workspace = createWorkspace()
  furnish(workspace)
  return workspace
}

function importIn(workspace: Workspace, url: string, ...more: readonly string[]): Promise<Ended> {
  return runHere([...IMPORT, ...platformArgs(workspace, url), ...more])
}

describe('import of a pipe that no manifest can have as it is', () => {
  test('prints what validates, and names the rest', async () => {
    await using platform = await platformWith(ODD)
    using workspace = given()
    const yaml = await importIn(workspace, platform.url)
    expect(yaml.stderr.split('\n')).toEqual([
      ...LEFT_OUT.map(([path, why]) => `pipewright: Pipe/orders: ${path} is left out. ${why}`),
      'pipewright: No secret is written. Comments on top of each manifest name the secrets to mount and the values to fill in.',
      expect.stringMatching(
        /^pipewright: Next, "pipewright plan" must say "adopt" for each manifest\. .*remove policy\.adopt/,
      ),
      '',
    ])
    expect(yaml.code).toBe(0)
    expect(yaml.stdout).toContain('# No secret is written here.')
    expect(yaml.stdout).toContain('#   spec.scaling.autoscale\n#   spec.owner\n')
    workspace.write('manifests/orders.yaml', yaml.stdout)
    expect((await runHere(['validate', workspace.manifests])).code).toBe(0)
  })

  test('with -o json: the manifest, what is left out of it, and the secrets to be mounted', async () => {
    await using platform = await platformWith(ODD)
    using workspace = given()
    const { stdout } = await importIn(workspace, platform.url, '-o', 'json')
    const shown = JSON.parse(stdout) as Record<string, unknown>
    expect(shown['leftOut']).toEqual(LEFT_OUT.map(([path, why, isUnknown]) => ({ path, why, isUnknown })))
    expect(shown['secrets']).toContainEqual({
      path: 'spec.source.kafka.credentials.password',
      ref: { name: 'orders', key: 'password' },
    })
    workspace.write('manifests/orders.json', JSON.stringify(shown['manifest']))
    expect((await runHere(['validate', workspace.manifests])).code).toBe(0)
  })

  test('without a source that is known, it says that there can be none', async () => {
    await using platform = await platformWith({ name: 'orders', source: { carrierPigeon: {} } })
    using workspace = given()
    expect(await importIn(workspace, platform.url)).toEqual({
      code: 1,
      stdout: '',
      stderr: `pipewright: import: no manifest can be made of ${ID} ("orders"). A manifest needs spec.source. It is missing. Write one, with policy.adopt: ${ID}.\n`,
    })
  })
})

describe('import holds its manifest against the others', () => {
  test('the secret of a Service is not that of a pipe of the same name', async () => {
    await using platform = await platformWith(pipeBody('orders'))
    using workspace = given()
    const args = ['import', 'Pipe/analytics-api', ID, '--service', 'analytics']
    const { stdout } = await runHere([...args, ...platformArgs(workspace, platform.url)])
    expect(stdout).toContain('name: analytics-api-source')
    workspace.write('manifests/imported.yaml', stdout)
    expect((await runHere(['validate', workspace.manifests])).code).toBe(0)
  })

  test.each(
    Object.entries({
      'another manifest adopts it': {
        file: 'manifests/others.yaml',
        content: pipeManifest('others', { policy: { adopt: ID } }),
        says: `${ID} belongs to Pipe/others already: others.yaml:1.`,
      },
      'a Lock says that it is that of another key': {
        file: 'manifests/pipes.lock.yaml',
        content: `apiVersion: pipewright/v1\nkind: Lock\nmetadata: {name: pipes}\nspec: {pipes: {Pipe/others: ${ID}}}\n`,
        says: `${ID} belongs to Pipe/others already.`,
      },
    }),
  )('refused: %s', async (_why, { file, content, says }) => {
    await using platform = await platformWith(pipeBody('orders'))
    using workspace = given()
    workspace.write(file, content)
    expect(await importIn(workspace, platform.url)).toEqual({
      code: 1,
      stdout: '',
      stderr: `pipewright: import: ${says}\n`,
    })
  })
})
