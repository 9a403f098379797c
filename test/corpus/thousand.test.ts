import { expect, test } from 'vitest'
import { pictureOf } from '../../src/manifest/diagnostics/diagnostic.ts'
import { head } from '../support/manifests.ts'
import { besideText } from './load.ts'
import { catalogOf } from './directory.ts'

const COUNT = 1_000

/** Each with a mistake of its own kind, on a line of its own. */
const MISTAKES = [
  { code: 'unknown-field', wrong: '  replica: 2', mark: 'replica' },
  { code: 'wrong-type', wrong: '  name: 5', mark: '5' },
  { code: 'out-of-range', wrong: '  name: ""', mark: '""' },
  { code: 'wrong-value', wrong: '  roles: [admin]', mark: 'admin' },
] as const

/** Some in files of their own, most in files of ten, behind comments of varying length. */
function manifest(index: number, mistake: string): string {
  return [
    ...Array.from({ length: index % 7 }, (_, at) => `# line ${at}`),
    `${head(mistake.includes('roles') ? 'QueryEndpoint' : 'Pipe', `m-${index}`)}spec:`,
    '  service: analytics',
    ...(mistake.includes('roles') ? [] : ['  source: {kafka: {topics: orders}}']),
    mistake,
    '',
  ].join('\n')
}

test('a thousand manifests with a mistake each are a thousand findings, each at its line', async () => {
  const files: Record<string, Buffer> = { 'beside/service.yaml': Buffer.from(besideText('service')) }
  const expected: string[] = []
  let file = ''
  let text = ''
  for (let index = 0; index < COUNT; index += 1) {
    if (index % 10 === 0 || index < 100)
      [file, text] = [`team-${index % 13}/f-${String(index).padStart(4, '0')}.yaml`, '']
    else text += '---\n'
    const mistake = MISTAKES[index % MISTAKES.length] ?? MISTAKES[0]
    text += manifest(index, mistake.wrong)
    const line = text.split('\n').length - 1
    expected.push(`${file}:${line} ${mistake.code} ${mistake.mark}`)
    files[file] = Buffer.from(text)
  }
  const { findings } = await catalogOf({ profile: 'default', files, links: {}, limits: {} })
  const found = findings.map(({ lineText, column, endColumn, ...finding }) => {
    expect(pictureOf({ ...finding, lineText, column, endColumn })).toContain(`${finding.line}:${column}\n`)
    return `${finding.file}:${finding.line} ${finding.code} ${lineText.slice(column - 1, endColumn - 1)}`
  })
  expect(found).toHaveLength(COUNT)
  expect(found.toSorted()).toEqual(expected.toSorted())
})
