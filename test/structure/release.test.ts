import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { dated, notesOf, outputsOf, problemsOf, type VersionedFiles } from '../../.ci/release/version.ts'
import packageJson from '../../package.json' with { type: 'json' }
import lock from '../../package-lock.json' with { type: 'json' }
import { read, ROOT } from '../support/process.ts'

const CHANGELOG = `# Changelog

## [Unreleased]

## [1.2.0] - 2027-01-31

- Names: [settings](docs/reference/settings.md), [Keep](https://example.com/), [below](#names).

## [1.1.0] - 2026-12-01

- Before.
`

const RIGHT: VersionedFiles = {
  'package.json': '{"version": "1.2.0"}',
  'package-lock.json': '{"version": "1.2.0"}',
  'helm/Chart.yaml': 'version: 1.2.0\nappVersion: 1.2.0\n',
  Dockerfile: 'FROM x\nARG VERSION=1.2.0\n',
  'CHANGELOG.md': CHANGELOG,
}

describe('the version of a release', () => {
  test('is that of the tag, everywhere', () => {
    expect(problemsOf('v1.2.0', RIGHT)).toEqual([])
  })

  test('gets the changes below "Unreleased", once', () => {
    const waiting = CHANGELOG.replace('## [1.2.0] - 2027-01-31\n\n', '')
    expect(dated(waiting, '1.2.0', '2027-01-31')).toBe(CHANGELOG)
    expect(dated(CHANGELOG, '1.2.0', '2027-02-01')).toBe(CHANGELOG)
  })

  test('may be one of what comes before it', () => {
    const files = Object.entries(RIGHT).map(([name, text]) => [name, text.replaceAll('1.2.0', '1.2.0-rc.1')])
    expect(problemsOf('v1.2.0-rc.1', Object.fromEntries(files) as unknown as VersionedFiles)).toEqual([]) // the same keys
  })

  test.each([
    ['of another version', 'v1.3.0', 'package.json says 1.2.0, and the tag 1.3.0.'],
    ['without a "v"', '1.2.0', 'The tag "1.2.0" is not "v" and a version, such as v1.2.3.'],
    ['of two numbers', 'v1.2', 'The tag "v1.2" is not'],
  ])('is refused for a tag %s', (_why, tag, says) => {
    expect(problemsOf(tag, RIGHT).join('\n')).toContain(says)
  })

  test.each([
    ['another version', 'package.json', '1.2.0', '1.1.0', 'package.json says 1.1.0'],
    ['another version', 'package-lock.json', '1.2.0', '1.1.0', 'package-lock.json says 1.1.0'],
    ['another version', 'helm/Chart.yaml', '1.2.0', '1.1.0', 'helm/Chart.yaml (version) says 1.1.0'],
    ['another program', 'helm/Chart.yaml', /1.2.0\n$/, '1.1.0\n', 'helm/Chart.yaml (appVersion) says 1.1.0'],
    ['no version', 'Dockerfile', /ARG.*/, '', 'Dockerfile (ARG VERSION) says nothing'],
    ['no section', 'CHANGELOG.md', '## [1.2.0]', '## [1.2.1]', 'has no section "## [1.2.0] - DATE".'],
    [
      'no day',
      'CHANGELOG.md',
      '- 2027-01-31',
      '(unreleased)',
      '"## [1.2.0] (unreleased)": the section needs the day',
    ],
    ['an empty section', 'CHANGELOG.md', /^- Names.*$/m, '', 'says nothing below "## [1.2.0]".'],
    ['changes that wait', 'CHANGELOG.md', /\n\n/g, '\n\n- More.\n', 'has changes below "## [Unreleased]"'],
  ] as const)('is refused for %s in %s', (_why, file, from, to, says) => {
    expect(problemsOf('v1.2.0', { ...RIGHT, [file]: RIGHT[file].replace(from, to) }).join('\n')).toContain(
      says,
    )
  })

  test('is the same in all files of this repository', () => {
    const changelog = `## [${packageJson.version}] - 2027-01-31\n\n- Something.\n`
    const files = {
      'package.json': read('package.json'),
      'package-lock.json': read('package-lock.json'),
      'helm/Chart.yaml': read('helm/Chart.yaml'),
      Dockerfile: read('Dockerfile'),
      'CHANGELOG.md': changelog,
    }
    expect(problemsOf(`v${packageJson.version}`, files)).toEqual([])
  })
})

describe('the notes of a release', () => {
  const notes = notesOf('v1.2.0', CHANGELOG, 'Acme/Pipewright')

  test('are its section of the changelog, with links that lead somewhere from anywhere', () => {
    expect(notes).toMatch(/^- Names: /)
    expect(notes).toContain(
      '[settings](https://github.com/Acme/Pipewright/blob/v1.2.0/docs/reference/settings.md)',
    )
    expect(notes).toContain('[Keep](https://example.com/)')
    expect(notes).toContain('[below](#names)')
    expect(notes).not.toContain('Before.')
  })

  test('say where it is and how to check it, under the names that the workflow gives', () => {
    expect(notes).toContain('oci://ghcr.io/acme/pipewright/charts/pipewright --version 1.2.0')
    expect(notes).toContain('/.github/workflows/release.yml@refs/tags/v1.2.0')
    expect(outputsOf('v1.2.0', 'Acme/Pipewright')).toBe(
      'version=1.2.0\nimage=ghcr.io/acme/pipewright\nchannel=latest\n',
    )
    expect(outputsOf('v1.2.0-rc.1', 'Acme/Pipewright')).toContain('channel=next\n')
  })

  test('are there for a version that the changelog has, and for no other', () => {
    expect(() => notesOf('v9.9.9', CHANGELOG, 'acme/pipewright')).toThrow('no section "## [9.9.9]"')
  })
})

const Step = z.object({ uses: z.string().optional(), run: z.string().optional() })
const Job = z.object({
  permissions: z.record(z.string(), z.string()).optional(),
  'timeout-minutes': z.number().optional(),
  uses: z.string().optional(),
  steps: z.array(Step).optional(),
})
const Workflow = z.object({
  permissions: z.record(z.string(), z.string()),
  concurrency: z.object({ group: z.string() }),
  jobs: z.record(z.string(), Job),
})
const Action = z.object({ runs: z.object({ steps: z.array(Step) }) })

const WORKFLOWS = ['ci.yml', 'release.yml'].map(
  (name) => [name, Workflow.parse(parse(read(`.github/workflows/${name}`)))] as const,
)
const ACTIONS = ['setup', 'validate'].map(
  (name) => [name, Action.parse(parse(read(`.github/actions/${name}/action.yml`)))] as const,
)

/** All steps of the workflows and of the actions. */
const STEPS = [
  ...WORKFLOWS.flatMap(([, { jobs }]) => Object.values(jobs).flatMap(({ steps = [] }) => steps)),
  ...ACTIONS.flatMap(([, { runs }]) => runs.steps),
]

/** The scripts of all steps, however deep they are. */
function runsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'run' && typeof inner === 'string' ? [inner] : runsIn(inner),
  )
}

describe('workflows', () => {
  test.each(WORKFLOWS)(
    '%s gives nothing by itself: each job names what it may do, and how long',
    (_name, workflow) => {
      expect(workflow.permissions).toEqual({})
      for (const [name, job] of Object.entries(workflow.jobs)) {
        expect(Object.keys(job.permissions ?? {}), name).not.toHaveLength(0)
        expect(job.uses ?? job['timeout-minutes'], name).toBeDefined()
      }
    },
  )

  test('what may be written, and by whom', () => {
    const writes = WORKFLOWS.flatMap(([file, { jobs }]) =>
      Object.entries(jobs).flatMap(([name, { permissions = {} }]) =>
        Object.entries(permissions).flatMap(([right, level]) =>
          level === 'write' ? [`${file} ${name}: ${right}`] : [],
        ),
      ),
    )
    expect(writes.toSorted()).toEqual([
      'release.yml chart: id-token',
      'release.yml chart: packages',
      'release.yml image: attestations',
      'release.yml image: id-token',
      'release.yml image: packages',
      'release.yml npm: id-token',
      'release.yml release: attestations',
      'release.yml release: contents',
      'release.yml release: id-token',
    ])
  })

  test('every action is named by a commit, with its version beside it', () => {
    const lines = [
      ...WORKFLOWS.map(([name]) => `workflows/${name}`),
      ...ACTIONS.map(([name]) => `actions/${name}/action.yml`),
    ]
      .flatMap((path) => read(`.github/${path}`).split('\n'))
      .filter((line) => /^ *(- )?uses: (?!\.\/)/.test(line))
    expect(lines).toHaveLength(STEPS.filter(({ uses }) => uses !== undefined).length)
    expect(lines.filter((line) => !/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([])
    // One action, one version.
    const named = Map.groupBy(lines, (line) => /uses: (.*)@/.exec(line)?.[1])
    for (const [action, uses] of named) {
      expect(new Set(uses.map((line) => line.replace(/^.*@/, ''))).size, action).toBe(1)
    }
  })

  test('a step is one command, and what is more is a script that is there and can be run', () => {
    const commands = STEPS.flatMap(({ run }) => (run === undefined ? [] : [run.trim()]))
    expect(commands.length).toBeGreaterThan(20)
    expect(commands.filter((command) => command.includes('\n'))).toEqual([])
    const scripts = commands.flatMap((command) => command.match(/\.ci\/[\w./-]+/g) ?? [])
    for (const script of scripts.filter((path) => !path.endsWith('.ts'))) {
      expect(statSync(join(ROOT, script)).mode & 0o111, script).toBe(0o111)
    }
    for (const script of readdirSync(join(ROOT, '.ci/release')))
      expect(commands.join('\n')).toContain(`.ci/release/${script}`)
  })

  test('no expression is put into a script: what is in it could end the command and begin another', () => {
    const page = read('docs/how-to/pull-requests.md')
    const shown = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].flatMap(([, text = '']) =>
      runsIn(parse(text)),
    )
    expect(shown.length).toBeGreaterThan(4)
    const runs = [...shown, ...STEPS.flatMap(({ run }) => run ?? [])]
    expect(runs.filter((run) => run.includes('${{'))).toEqual([])
  })

  test('Node is the same everywhere: in the lock file, the image, the workflows and the hook', () => {
    const { version } = lock.packages['node_modules/node']
    const [major] = version.split('.')
    const said = [
      ...WORKFLOWS.map(([name]) => `workflows/${name}`),
      ...ACTIONS.map(([name]) => `actions/${name}/action.yml`),
    ].flatMap((path) => read(`.github/${path}`).match(/node-version: .*/g) ?? [])
    expect([...new Set(said)]).toEqual([`node-version: ${major}`])
    expect(read('.ci/hook')).toContain(`Needs Node ${major}.\n`)
  })
})
