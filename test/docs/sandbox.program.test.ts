import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FaultsFile } from '../../src/sandbox/faults.ts'
import { readSandboxFile } from '../../src/sandbox/sandbox-file.ts'
import { fixtureSchema } from '../../src/sandbox/fixture.ts'
import { resourcesOf, ROOT, runProgram, startProgram, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'

/* What docs/sandbox.md shows, works. */

const PAGE = readFileSync(new URL('../../docs/sandbox.md', import.meta.url), 'utf8')

function examples(language: string): readonly string[] {
  return [...PAGE.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, text = '']) => text,
  )
}

test.each([
  ['faults', FaultsFile, 0],
  ['fixture', fixtureSchema(DEFAULT), 1],
] as const)('the %s file is right', async (name, schema, at) => {
  using workspace = createWorkspace()
  workspace.write(`${name}.yaml`, examples('yaml')[at] ?? '')
  const said = await readSandboxFile<object>(workspace.path(`${name}.yaml`), schema)
  expect(Object.values(said).flat()).not.toEqual([])
})

interface State {
  readonly pipes: readonly { readonly name: string; readonly id: string }[]
}

test('a reply that is lost: the commands, one after the other', async () => {
  using workspace = createWorkspace()
  cpSync(`${ROOT}/manifests`, workspace.manifests, { recursive: true })
  await using daemon = startProgram(['run', '--sandbox', '--listen', '127.0.0.1:0'], { cwd: workspace.dir })
  const url = await urlOf(daemon)
  const sandbox = String(daemon.log().find(({ msg }) => msg === 'Started')?.['baseUrl'])
  const [misbehave = '', ask = '', look = '', revoke = ''] = examples('sh')
  const curl = async (text: string) => {
    const [, path] = /curl -s \$sandbox(\S+)/.exec(text) ?? []
    const [, body] = /-d '(.*)'/.exec(text) ?? []
    const [, type] = /-H 'content-type: (.*)'/.exec(text) ?? []
    const posted = body === undefined ? {} : { method: 'POST', headers: { 'content-type': type ?? '' }, body }
    return (await fetch(`${sandbox}${path}`, posted)).json()
  }
  const becomes = (status: string) =>
    until(`the pipe to become ${status}`, async () => {
      const found = (await resourcesOf(url)).find(({ key }) => key === 'Pipe/chargebacks')
      return found?.status === status ? found : undefined
    })

  expect(await curl(misbehave)).toEqual({ ok: true })
  const [, file = '', manifest = ''] = /cat > (\S+) <<'END'\n([\s\S]*)END\n/.exec(ask) ?? []
  workspace.write(file, manifest)
  await becomes('OutcomeUnknown')

  const { pipes } = (await curl(look)) as State
  const made = pipes.filter(({ name }) => name === 'chargebacks')
  expect(made).toHaveLength(1)
  const resolve = ['resolve', 'Pipe/chargebacks', '--adopt', made[0]?.id ?? '', '--sandbox']
  expect(PAGE).toContain(`npx pipewright ${resolve.join(' ').replace(made[0]?.id ?? '', 'ID')}`)
  expect(await runProgram(resolve, { cwd: workspace.dir })).toMatchObject({ code: 0 })
  expect(await becomes('Ready')).toMatchObject({ pipeId: made[0]?.id })

  const [, content = '', key = ''] = /^echo (\S+) > (\S+)$/m.exec(revoke) ?? []
  expect(existsSync(workspace.path(key))).toBe(true)
  workspace.write(key, content)
  const [, check = ''] = /^npx pipewright (.*)$/m.exec(revoke) ?? []
  expect(await runProgram(check.split(' '), { cwd: workspace.dir })).toMatchObject({ code: 0 })
  await until('the key to be refused', async () =>
    (await resourcesOf(url)).some(
      (shown) => shown.key === 'Service/commerce' && shown.reason === 'AuthFailed',
    ),
  )
})
