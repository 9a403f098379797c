import { join } from 'node:path'
import { type Finding, FINDING_CODES } from '../../kinds/finding.ts'
import { capital } from '../../kinds/lookup.ts'
import { pictureOf } from '../../manifest/diagnostics/diagnostic.ts'
import { type Paint, plainText } from './terminal.ts'

export function findingsAsText(findings: readonly Finding[], root: string, paint: Paint): string {
  return findings.map((finding) => findingAsText(finding, root, paint)).join('\n')
}

function findingAsText(finding: Finding, root: string, paint: Paint): string {
  const colour = finding.severity === 'error' ? 'red' : 'yellow'
  const label = `${paint([colour, 'bold'], finding.severity)} ${paint('dim', finding.code)}`
  const about = finding.key === undefined ? '' : ` ${paint('bold', finding.key)}`
  const picture = pictureOf({ ...finding, file: join(root, finding.file) })
  const related = finding.related.map(
    (place) => `  ${join(root, place.file)}:${place.line}:${place.column} ${place.message}\n`,
  )
  return plainText(
    `${label}${about}: ${finding.message}\n${picture}\n${related.join('')}  ${paint('cyan', 'hint:')} ${finding.hint}\n`,
  )
}

export function findingsAsCompact(findings: readonly Finding[], root: string): string {
  return findings
    .map(({ severity, code, file, line, column, message, hint }) =>
      plainText(
        `${join(root, file)}:${line}:${column}: ${severity}: ${message} ${hint} [${code}]`.replaceAll(
          '\n',
          ' ',
        ),
      ),
    )
    .join('\n')
}

/** Each `path` is relative to the current directory. */
export function findingsAsJson(findings: readonly Finding[], root: string) {
  return findings.map((finding) => ({
    ...finding,
    path: join(root, finding.file),
    related: finding.related.map((place) => ({ ...place, path: join(root, place.file) })),
  }))
}

export function findingsAsGithub(
  findings: readonly Finding[],
  root: string,
  problem: string | undefined,
): string {
  const lines = findings.map(({ severity, code, file, line, column, endColumn, message, hint }) => {
    const place = `file=${property(join(root, file))},line=${line},col=${column},endColumn=${endColumn}`
    return `::${severity} ${place},title=${property(code)}::${data(`${message} ${hint}`)}`
  })
  return [...lines, ...(problem === undefined ? [] : [`::error ::${data(problem)}`])].join('\n')
}

function data(text: string): string {
  return plainText(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

export function findingsAsSarif(
  findings: readonly Finding[],
  about: { readonly root: string; readonly version: string; readonly problem: string | undefined },
) {
  const codes = [...new Set(findings.map((finding) => finding.code))].toSorted()
  const problems = about.problem === undefined ? [] : [{ level: 'error', message: { text: about.problem } }]
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'pipewright', version: about.version, rules: codes.map(ruleOf) } },
        // Columns count UTF-16 units, as in JavaScript. The default of SARIF is code points.
        columnKind: 'utf16CodeUnits',
        originalUriBaseIds: { [SOURCE_ROOT]: { description: { text: 'The root of the repository.' } } },
        invocations: [{ executionSuccessful: true, toolExecutionNotifications: problems }],
        results: findings.map((finding) => ({
          ruleId: finding.code,
          ruleIndex: codes.indexOf(finding.code),
          level: finding.severity,
          message: { text: `${finding.message} ${finding.hint}` },
          locations: [sarifPlace(about.root, finding, finding.endColumn)],
          relatedLocations: finding.related.map((place, id) => ({
            id,
            message: { text: place.message },
            ...sarifPlace(about.root, place, place.column),
          })),
        })),
      },
    ],
  }
}

const SOURCE_ROOT = '%SRCROOT%'

const MEANINGS: ReadonlyMap<string, string> = new Map(Object.entries(FINDING_CODES))

function ruleOf(code: string) {
  const means = `${capital(MEANINGS.get(code) ?? code)}.`
  const page = `docs/reference/findings.md#${code}`
  return {
    id: code,
    name: code,
    shortDescription: { text: means },
    fullDescription: { text: means },
    help: {
      text: `${means} Examples: ${page} of Pipewright.`,
      markdown: `${means} Examples: [${page}](${page}) of Pipewright.`,
    },
  }
}

function sarifPlace(
  root: string,
  place: { readonly file: string; readonly line: number; readonly column: number },
  endColumn: number,
) {
  const uri = join(root, place.file).split('/').map(encodeURIComponent).join('/')
  const region = {
    startLine: place.line,
    startColumn: place.column,
    endColumn: Math.max(endColumn, place.column),
  }
  return { physicalLocation: { artifactLocation: { uri, uriBaseId: SOURCE_ROOT }, region } }
}
