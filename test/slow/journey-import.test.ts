import { readFileSync, rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { secretRefsIn } from '../../src/kinds/secret-ref.ts'
import { isObject, type JsonObject } from '../../src/lib/json.ts'
import { SOURCE_KINDS, SOURCES } from '../kinds/manifests.ts'
import { CREDENTIAL, mountSecrets, pipeThere, platformArgs, SERVICE } from '../support/manifests.ts'
import { runHere } from '../support/command.ts'
import { startProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'
import { createScenario } from './scenario.ts'

/* Somebody has pipes already, made by hand, and wants them in Git. */

/** As a pipe is asked for: each reference to a secret replaced by the secret. */
function onTheWire(value: unknown, path: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((item) => onTheWire(item, path))
  if (!isObject(value)) return value
  if ('secretRef' in value) return `planted-${path.join('-')}`
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, onTheWire(member, [...path, name])]),
  )
}

function textAt(value: unknown, path: readonly string[]): string {
  return String(path.reduce((at: unknown, name) => (isObject(at) ? at[name] : undefined), value))
}

describe('import', () => {
  test('makes a manifest that validates, adopts and does not drift', async () => {
    await using scenario = await createScenario()
    const { workspace, platform } = scenario
    scenario.writePipe('orders')
    expect((await scenario.run(['apply'])).code).toBe(0)
    const [pipe] = platform.pipes()
    const id = pipe?.id ?? ''
    const held = await scenario.run(['import', 'Pipe/other', id, '--service', 'analytics'])
    expect(held).toMatchObject({ code: 1, stdout: '' })
    expect(held.stderr).toContain('belongs to Pipe/orders already')

    rmSync(workspace.path('manifests/orders.yaml'))
    rmSync(scenario.ledger)
    const typo = await scenario.run(['import', 'Pipe/taken', id, '--service', 'analitycs'])
    expect(typo.code).toBe(1)
    expect(typo.stderr).toContain('Did you mean analytics?')
    const unknown = '00000000-0000-4000-9000-0000000000ff'
    const missing = await scenario.run(['import', 'Pipe/taken', unknown, '--service', 'analytics'])
    expect(missing.code).toBe(1)
    expect(missing.stderr).toContain(`pipe ${unknown} of Service/analytics could not be read`)

    const folder = workspace.path('manifests')
    const file = workspace.path('manifests/taken.yaml')
    const imported = ['import', 'Pipe/taken', id, '--service', 'analytics', '--output-dir', folder] as const
    expect(await scenario.run(imported)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('policy.adopt'),
    })
    const text = readFileSync(file, 'utf8')
    expect(text).toContain(`adopt: ${id}`)
    expect(text).toContain('source.kafka.credentials.password: secret taken, key password')
    expect(text).not.toMatch(/planted|createdAt|state:/)
    expect((await scenario.run(imported)).code).toBe(1)
    expect(readFileSync(file, 'utf8')).toBe(text)

    const validated = await runHere(['validate', workspace.manifests])
    expect(validated.stdout + validated.stderr).not.toContain('error')
    expect(validated.code).toBe(0)
    workspace.write('secrets/taken/username', 'reader')
    workspace.write('secrets/taken/password', 'planted-kafka-password-55a')
    const planned = await scenario.run(['plan'])
    expect(planned.code).toBe(2)
    expect(planned.stdout).toContain('Pipe/taken  adopt')
    const applied = await scenario.run(['apply'])
    expect(applied.stdout + applied.stderr).not.toMatch(/Drifted/)
    expect(applied.code).toBe(0)
    expect((await scenario.run(['plan'])).code).toBe(0)
    expect(scenario.creates()).toEqual(['orders'])
  })

  test('reads pipes of each source kind, as a world of the sandbox has them', async () => {
    await using stack = new AsyncDisposableStack()
    const workspace = stack.use(createWorkspace())
    mountSecrets(workspace)
    workspace.write('manifests/service.yaml', SERVICE)
    const pipes = SOURCE_KINDS.map((kind, index) => {
      const { iamRole: _, ...source } = { iamRole: '', ...SOURCES[kind] } // it would take the place of a key
      return pipeThere(`00000000-0000-4000-9000-00000000000${index}`, `pipe-${index}`, {
        source: { [kind]: onTheWire(source) },
      })
    })
    workspace.write('world.yaml', JSON.stringify({ pipes }))
    const platform = stack.use(
      startProgram([
        'sandbox',
        '--listen',
        '127.0.0.1:0',
        '--world',
        workspace.path('world.yaml'),
        '--key-id',
        CREDENTIAL.keyId,
        '--key-secret',
        CREDENTIAL.keySecret,
      ]),
    )
    await until('the platform to listen', () => platform.stdout().includes('listens on'))
    const [url = ''] = /http:[^:]+:\d+/.exec(platform.stdout()) ?? []
    const run = (...command: readonly string[]) => runHere([...command, ...platformArgs(workspace, url)])

    const keys: string[] = []
    for (const pipe of pipes) {
      const file = workspace.path(`manifests/${pipe.name}.yaml`)
      const imported = await run(
        'import',
        `Pipe/${pipe.name}`,
        pipe.id,
        '--service',
        'analytics',
        '--output-dir',
        workspace.path('manifests'),
      )
      expect(imported).toMatchObject({ code: 0, stderr: expect.stringContaining('policy.adopt') })
      const text = readFileSync(file, 'utf8')
      expect(text).not.toMatch(/planted|hunter2|BEGIN/)
      for (const { path, ref } of secretRefsIn(parse(text) as JsonObject)) {
        expect(text).toContain(`#   ${path}: secret ${ref.name}, key ${ref.key}`)
        expect(ref.name).toBe(pipe.name)
        keys.push(ref.key)
        workspace.write(`secrets/${ref.name}/${ref.key}`, textAt(pipe, path.split('.').slice(1)))
      }
    }
    expect(keys.toSorted()).toEqual([
      'accessKeyId',
      'caCertificate',
      'connectionString',
      'password',
      'password',
      'schemaRegistry.caCertificate',
      'schemaRegistry.password',
      'schemaRegistry.username',
      'secretKey',
      'username',
      'username',
    ])
    expect((await runHere(['validate', workspace.manifests])).code).toBe(0)
    const applied = await run('apply')
    expect(applied.stdout).toContain('None of 5 needs attention')
    expect(applied.code).toBe(0)
    const planned = await run('plan')
    expect(planned.stdout).toContain('5 unchanged')
    expect(planned.code).toBe(0)
  })
})
