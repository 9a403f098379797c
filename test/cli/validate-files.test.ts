import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { runHere } from '../support/command.ts'
import { folderForFile } from '../support/folders.ts'

const root = folderForFile()

const alert = (name: string, extra = '') =>
  `apiVersion: pipewright/v1\nkind: Alert\nmetadata: {name: ${name}}\n${extra}spec: {id: 0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11}\n`

mkdirSync(join(root, 'manifests/team'), { recursive: true })
writeFileSync(join(root, 'manifests/a.yaml'), alert('a', 'policy: {interval: 10}\n'))
writeFileSync(join(root, 'manifests/team/b.yaml'), alert('b', 'policy: {dependsOn: [Alert/a]}\n'))
writeFileSync(join(root, 'manifests/team/c.yaml'), alert('c', 'colour: red\n'))
writeFileSync(join(root, 'elsewhere.yaml'), alert('d'))
for (const folder of ['alone', 'two', 'tools']) mkdirSync(join(root, folder))
writeFileSync(join(root, 'two/x.yaml'), alert('x'))
writeFileSync(join(root, 'two/y.yaml'), alert('x'))

/** A folder, in which it runs, and its arguments. */
async function from(line: string, env: Readonly<Record<string, string>> = {}) {
  const [folder = '', ...words] = line.split(' ')
  const before = process.cwd()
  process.chdir(join(root, folder))
  try {
    return await runHere(['validate', ...words], env)
  } finally {
    process.chdir(before)
  }
}

test('a file without a mistake is fine, although another has one, and what it depends on is known', async () => {
  const { stdout, code } = await from('. --manifests manifests manifests/team/b.yaml')
  expect(stdout).toContain('no findings. All of manifests was read. Only the findings of 1 path are shown.')
  expect(code).toBe(0)
})

test('two files, one line each, as an editor reads them', async () => {
  const { stdout, code } = await from(
    '. --manifests manifests -o compact manifests/a.yaml manifests/team/c.yaml',
  )
  const pattern = /^(.+):(\d+):(\d+): (error|warning): (.+) \[([a-z0-9-]+)\]$/
  const places = stdout
    .trimEnd()
    .split('\n')
    .map((line) => pattern.exec(line)?.slice(1, 5))
  expect(places).toEqual([
    ['manifests/a.yaml', '4', '20', 'error'],
    ['manifests/team/c.yaml', '4', '1', 'error'],
  ])
  expect(code).toBe(1)
})

test('a file and a folder show what is in the folder', async () => {
  const { stdout } = await from('. --manifests manifests -o json manifests/team manifests/team/b.yaml')
  const { findings } = JSON.parse(stdout) as { findings: { file: string }[] }
  expect(findings.map(({ file }) => file)).toEqual(['team/c.yaml'])
})

test('one directory is the manifests directory', async () => {
  const { stdout, code } = await from('. -o compact manifests')
  expect(stdout.trimEnd().split('\n')).toHaveLength(2)
  expect(code).toBe(1)
})

test.each([
  [
    'elsewhere.yaml',
    'elsewhere.yaml is not in manifests, the directory of the manifests. Name its directory: ' +
      '"pipewright validate --manifests . elsewhere.yaml".',
  ],
  ['manifests/none.yaml', 'manifests/none.yaml does not exist'],
])('%s is a usage error', async (path, message) => {
  const { stderr, code } = await from(`. --manifests manifests ${path} manifests/a.yaml`)
  expect(stderr).toContain(message)
  expect(code).toBe(64)
})

test('a file is read with the directory of manifests around it, where none is below', async () => {
  const { code, stdout } = await from('manifests/team b.yaml')
  expect(stdout).toContain('no findings. All of .. was read. Only the findings of 1 path are shown.')
  expect(code).toBe(0)
})

test('where there is no directory of manifests, what to write is said', async () => {
  const missing = `The manifests directory is missing: ${join(root, 'alone/manifests')}. Create it, or correct --manifests.`
  for (const output of ['text', 'compact'])
    expect(await from(`alone -o ${output}`)).toEqual({
      code: 1,
      stdout: '',
      stderr: `manifests: ${missing}\n`,
    })
  const { code, stdout } = await from('alone -o json')
  expect([code, JSON.parse(stdout)]).toEqual([1, { manifests: 0, problem: missing, findings: [] }])
})

test('of a file that is too large nothing is said that only a daemon could have done', async () => {
  mkdirSync(join(root, 'large'))
  writeFileSync(join(root, 'large/x.yaml'), `# ${'x'.repeat(2_000_000)}\n`)
  expect((await from('. large')).stdout).toContain(
    'hint: Split the file into several. A daemon keeps using the earlier content of the file.',
  )
})

const suspended = (until: string) => `policy: {suspend: {reason: move, until: "${until}"}}\n`

test('a suspension that ended is told, and is no finding', async () => {
  mkdirSync(join(root, 'ended'))
  writeFileSync(join(root, 'ended/x.yaml'), alert('x', suspended('2026-01-31T00:00:00Z')))
  writeFileSync(join(root, 'ended/y.yaml'), alert('y', suspended('9999-01-31T00:00:00Z')))
  const { stdout, stderr, code } = await from('. ended')
  expect(stderr).toBe(
    'ended/x.yaml:1: the suspension of Alert/x ended at 2026-01-31T00:00:00Z. Remove policy.suspend, or set a later "until".\n',
  )
  expect(stdout).toContain('2 manifests, no findings.')
  expect(code).toBe(0)
})

test('for programs, each place has a path that can be opened from there', async () => {
  const { stdout } = await from('tools ../two -o json')
  expect(JSON.parse(stdout)).toMatchObject({
    findings: [
      {
        file: 'x.yaml',
        path: '../two/x.yaml',
        related: [{ file: 'y.yaml', path: '../two/y.yaml', line: 1 }],
      },
      {
        file: 'y.yaml',
        path: '../two/y.yaml',
        related: [{ file: 'x.yaml', path: '../two/x.yaml', line: 1 }],
      },
    ],
  })
})

test('files are read with the directory of manifests around them all, or are not', async () => {
  const { code, stdout } = await from('manifests/team b.yaml c.yaml')
  expect([code, stdout]).toEqual([1, expect.stringContaining('findings of 2 paths are shown')])
  const wrong = ['b.yaml none.yaml', 'b.yaml ../../elsewhere.yaml', 'b.yaml .']
  for (const paths of wrong) expect((await from(`manifests/team ${paths}`)).code).toBe(64)
  expect((await from('two x.yaml')).stdout).toContain('All of . was read')
  expect((await from('. --manifests two none')).stderr).toContain('none: The manifests directory is missing')
})

test('for GitHub, paths begin at its checkout, and elsewhere at this folder', async () => {
  const places = new Set<string>()
  for (const GITHUB_WORKSPACE of ['', root, join(root, 'two')]) {
    const { stdout } = await from('tools --manifests ../manifests -o github', { GITHUB_WORKSPACE })
    places.add(`${basename(GITHUB_WORKSPACE)} ${/file=([^,]+)/.exec(stdout)?.[1]}`)
  }
  expect([...places]).toEqual([
    ' ../manifests/a.yaml',
    `${basename(root)} manifests/a.yaml`,
    'two ../manifests/a.yaml',
  ])
})

/** From a folder of the repository that is not its root. */
async function inside(output: string) {
  return (await from(`tools --manifests ../manifests -o ${output}`)).stdout
}

test('paths for GitHub and code scanning begin at the root of the repository, wherever it runs', async () => {
  mkdirSync(join(root, '.git'), { recursive: true })
  mkdirSync(join(root, 'tools'), { recursive: true })
  expect(await inside('github')).toContain('::error file=manifests/team/c.yaml,line=4,')
  const { runs } = JSON.parse(await inside('sarif')) as {
    readonly runs: readonly {
      readonly originalUriBaseIds: unknown
      readonly columnKind: unknown
      readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } }
      readonly results: readonly {
        readonly ruleId: string
        readonly ruleIndex: number
        readonly locations: unknown
      }[]
    }[]
  }
  const [run] = runs
  expect(run?.originalUriBaseIds).toHaveProperty('%SRCROOT%')
  expect(run?.columnKind).toBe('utf16CodeUnits')
  expect(
    run?.results.map(({ ruleId, ruleIndex }) => run.tool.driver.rules[ruleIndex]?.id === ruleId),
  ).toEqual([true, true])
  expect(run?.results[0]?.locations).toMatchObject([
    { physicalLocation: { artifactLocation: { uri: 'manifests/a.yaml', uriBaseId: '%SRCROOT%' } } },
  ])
  expect(run?.tool.driver.rules).toContainEqual(
    expect.objectContaining({
      id: 'unknown-field',
      shortDescription: { text: 'There is no such field in this place.' },
      help: expect.objectContaining({
        markdown: expect.stringContaining('(docs/reference/findings.md#unknown-field)'),
      }),
    }),
  )
})

test('what the ignore file names is not read, and says nothing', async () => {
  writeFileSync(join(root, 'manifests/.pipewrightignore'), 'team/c.yaml\n')
  const { stdout } = await from('. --manifests manifests')
  expect(stdout).toContain('2 manifests, 1 error, 0 warnings.')
  const named = await from('. --manifests manifests manifests/team/c.yaml')
  expect(named.stderr).toContain('team/c.yaml is not read: .pipewrightignore lists it.')
  rmSync(join(root, 'manifests/.pipewrightignore'))
})

test.each(['p.txt', 'kustomization.yaml', '.hidden.yaml'])(
  '%s is not read, and does not pass',
  async (name) => {
    writeFileSync(join(root, 'two', name), 'x')
    const { stdout, stderr, code } = await from(`. --manifests two two/x.yaml two/${name}`)
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      expect.stringContaining(`two/${name} is not read. Pipewright`),
    ])
  },
)

test('where the manifests are a single file, findings name that file', async () => {
  const { stdout, code } = await from('. --manifests manifests/a.yaml -o compact')
  expect(stdout).toMatch(/^manifests\/a\.yaml:4:/)
  expect(code).toBe(1)
  expect((await from('. --manifests manifests/a.yaml')).stdout).toContain('\nmanifests/a.yaml:4:')
})
