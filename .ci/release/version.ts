/**
 * `version.ts set TAG` gives all files the version, and today's date to the changes below "Unreleased";
 * `version.ts check TAG` says whether the tag may be released; `version.ts notes TAG` prints what the release says of itself;
 * `version.ts outputs TAG` prints what the steps of a workflow go by.
 * The tag is `v` and the version. What has to name the same version: package.json, the lock file, the chart, the Dockerfile
 * and a section of CHANGELOG.md.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

const ROOT = join(import.meta.dirname, '../..')

/** Of three numbers, and maybe what comes before it, as in 1.0.0-rc.1. */
const TAG = /^v(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$/

const Versioned = z.object({ version: z.string() })
const Chart = Versioned.extend({ appVersion: z.string() })

/** What names the version, by its path in the repository. */
export interface VersionedFiles {
  readonly 'package.json': string
  readonly 'package-lock.json': string
  readonly 'helm/Chart.yaml': string
  readonly Dockerfile: string
  readonly 'CHANGELOG.md': string
}

/** @returns why the tag may not be released, a sentence each; none when it may */
export function problemsOf(tag: string, files: VersionedFiles): readonly string[] {
  const [, version] = TAG.exec(tag) ?? []
  if (version === undefined) return [`The tag "${tag}" is not "v" and a version, such as v1.2.3.`]
  const chart = Chart.parse(parse(files['helm/Chart.yaml']))
  const named = [
    ['package.json', Versioned.parse(JSON.parse(files['package.json'])).version],
    ['package-lock.json', Versioned.parse(JSON.parse(files['package-lock.json'])).version],
    ['helm/Chart.yaml (version)', chart.version],
    ['helm/Chart.yaml (appVersion)', chart.appVersion],
    ['Dockerfile (ARG VERSION)', /^ARG VERSION=(\S+)$/m.exec(files.Dockerfile)?.[1] ?? 'nothing'],
  ] as const
  const other = named.filter(([, found]) => found !== version)
  return [
    ...other.map(([file, found]) => `${file} says ${found}, and the tag ${version}.`),
    ...changelogProblems(files['CHANGELOG.md'], version),
  ]
}

function changelogProblems(changelog: string, version: string): readonly string[] {
  const sections = sectionsOf(changelog)
  const own = sections.find(({ name }) => name === version)
  const waiting = sections.find(({ name }) => name === 'Unreleased')
  return [
    ...(own === undefined ? [`CHANGELOG.md has no section "## [${version}] - DATE".`] : []),
    ...(own !== undefined && !/^- \d{4}-\d\d-\d\d$/.test(own.rest)
      ? [
          `CHANGELOG.md says "## ${`[${version}] ${own.rest}`.trim()}": the section needs the day of the release, such as "- 2027-01-31".`,
        ]
      : []),
    ...(own?.text === '' ? [`CHANGELOG.md says nothing below "## [${version}]".`] : []),
    ...(waiting === undefined || waiting.text === ''
      ? []
      : [`CHANGELOG.md has changes below "## [Unreleased]": move them to "## [${version}]".`]),
  ]
}

interface Section {
  readonly name: string
  /** Behind the name, such as `- 2027-01-31`. */
  readonly rest: string
  readonly text: string
}

function sectionsOf(changelog: string): readonly Section[] {
  return changelog
    .split(/^## \[/m)
    .slice(1)
    .map((section) => {
      const [title = '', ...lines] = section.split('\n')
      const [name = '', rest = ''] = title.trim().split(']', 2)
      return { name, rest: rest.trim(), text: lines.join('\n').trim() }
    })
}

/** What a release says: its section of the changelog, links made whole, and how to check what was downloaded. */
export function notesOf(tag: string, changelog: string, repository: string): string {
  const version = tag.slice(1)
  const section = sectionsOf(changelog).find(({ name }) => name === version)
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## [${version}]"`)
  const source = `https://github.com/${repository}`
  const image = imageOf(repository)
  const identity = `${source}/.github/workflows/release.yml@refs/tags/${tag}`
  const signer = `--certificate-identity ${identity} \\
  --certificate-oidc-issuer https://token.actions.githubusercontent.com`
  return `${section.text.replaceAll(/\]\((?!https?:|#)/g, `](${source}/blob/${tag}/`)}

## Where it is, and how to check it

\`\`\`sh
npx pipewright@${version} validate manifests
helm install pipewright oci://${image}/charts/pipewright --version ${version} --namespace data --values values.yaml
kubectl apply -f ${source}/releases/download/${tag}/install.yaml   # on the sandbox, to try it

sha256sum --check --ignore-missing SHA256SUMS
cosign verify ${image}:${version} ${signer}
cosign verify ${image}/charts/pipewright:${version} ${signer}
gh attestation verify oci://${image}:${version} --repo ${repository}
\`\`\`
`
}

/** In a registry, names have no capitals. */
function imageOf(repository: string): string {
  return `ghcr.io/${repository.toLowerCase()}`
}

/** Name the version as package.json does; the check compares only the first ones. */
const NAMING = [
  'helm/Chart.yaml',
  'Dockerfile',
  'helm/README.md',
  'docs/tutorials/kubernetes.md',
  'docs/how-to/pull-requests.md',
  'docs/ledger-pod.yaml',
  'docs/compose.yaml',
  'docs/backup.yaml',
]

function setVersion(tag: string, day: string): void {
  const [, version] = TAG.exec(tag) ?? []
  if (version === undefined) throw new Error(`The tag "${tag}" is not "v" and a version, such as v1.2.3.`)
  const before = Versioned.parse(JSON.parse(fileOf('package.json'))).version
  const own = new RegExp(`("name": "pipewright",\\s+"version": ")${before.replaceAll('.', '\\.')}"`, 'g')
  for (const file of ['package.json', 'package-lock.json'])
    change(file, (text) => text.replaceAll(own, `$1${version}"`))
  for (const file of NAMING) change(file, (text) => text.replaceAll(before, version))
  change('CHANGELOG.md', (text) => dated(text, version, day))
}

/** The changes below "Unreleased" become those of the version. */
export function dated(changelog: string, version: string, day: string): string {
  if (sectionsOf(changelog).some(({ name }) => name === version)) return changelog
  return changelog.replace(/^## \[Unreleased\]$/m, `$&\n\n## [${version}] - ${day}`)
}

function change(file: string, by: (text: string) => string): void {
  writeFileSync(join(ROOT, file), by(readFileSync(join(ROOT, file), 'utf8')))
}

/** For GITHUB_OUTPUT. What comes before a version is not what `npm install` and `helm install` should pick up by themselves. */
export function outputsOf(tag: string, repository: string): string {
  const version = tag.slice(1)
  const channel = version.includes('-') ? 'next' : 'latest'
  return `version=${version}\nimage=${imageOf(repository)}\nchannel=${channel}\n`
}

function fileOf(name: keyof VersionedFiles): string {
  return readFileSync(join(ROOT, name), 'utf8')
}

function main([action, tag = '']: readonly string[]): number {
  const files = {
    'package.json': fileOf('package.json'),
    'package-lock.json': fileOf('package-lock.json'),
    'helm/Chart.yaml': fileOf('helm/Chart.yaml'),
    Dockerfile: fileOf('Dockerfile'),
    'CHANGELOG.md': fileOf('CHANGELOG.md'),
  }
  const repository = process.env['GITHUB_REPOSITORY'] ?? 'your-org/pipewright'
  if (action === 'set') setVersion(tag, new Date().toISOString().slice(0, 10))
  else if (action === 'notes') process.stdout.write(notesOf(tag, files['CHANGELOG.md'], repository))
  else if (action === 'outputs') process.stdout.write(outputsOf(tag, repository))
  else if (action === 'check') return check(tag, files)
  else {
    process.stderr.write('usage: version.ts set TAG | check TAG | notes TAG | outputs TAG\n')
    return 64
  }
  return 0
}

function check(tag: string, files: VersionedFiles): number {
  const problems = problemsOf(tag, files)
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  if (problems.length === 0) process.stdout.write(`${tag} may be released.\n`)
  return problems.length === 0 ? 0 : 1
}

if (import.meta.main) process.exitCode = main(process.argv.slice(2))
