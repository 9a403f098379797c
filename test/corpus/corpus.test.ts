import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Finding, FINDING_CODES } from '../../src/kinds/finding.ts'
import { PROFILES } from '../../src/kinds/profiles/profiles.ts'
import { pictureOf } from '../../src/manifest/diagnostics/diagnostic.ts'
import { MASK } from '../../src/manifest/diagnostics/mask-lines.ts'
import { printable } from '../../src/lib/shown-text.ts'
import { catalogOf } from './directory.ts'
import { comesWith, corpus, wrongBases, type CorpusCase, type Expected } from './load.ts'
import { fieldsOfInterface, fieldsUsed } from './fields.ts'

/** Codes that need what a checkout cannot hold, each with the test that makes it. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'file-not-regular': 'manifest/read-directory.test.ts',
  'file-unreadable': 'manifest/read-directory.test.ts',
  'folder-unreadable': 'manifest/read-directory.test.ts',
  'too-many-manifests': 'manifest/reading-budget.test.ts',
}

/** Stands for the secret of a case that has none; no finding says it. */
const NOTHING_PLANTED = '(nothing planted)'

const wrong = corpus('wrong')
const right = [
  ...corpus('right'),
  comesWith('manifests', 'default'),
  comesWith('examples/clickhouse-cloud', 'clickhouse-cloud'),
]

describe('wrong in one way', () => {
  test.each(wrong)('$title', async (each) => {
    const { findings } = await catalogOf(each)
    expect(findings.map((finding) => shown(finding, each))).toEqual(each.expect.map(filledIn))
    expect(findings.flatMap((finding) => faultsOf(finding, each))).toEqual([])
    for (const { hint } of findings) expect(hint).toBe(each.hint ?? hint)
    expect(JSON.stringify(findings)).not.toContain(each.secret ?? NOTHING_PLANTED)
  })

  test('every code has a case, or a test that makes it by other means', () => {
    const seen = new Set(wrong.flatMap(({ expect: expected }) => expected.map(({ code }) => code)))
    const missing = Object.keys(FINDING_CODES).filter((code) => !seen.has(code))
    expect(missing.toSorted()).toEqual(Object.keys(ELSEWHERE).toSorted())
    for (const [code, file] of Object.entries(ELSEWHERE))
      expect(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')).toContain(code)
  })

  test('there are enough, each of a sentence of its own and with something to find', () => {
    expect(wrong.length).toBeGreaterThanOrEqual(150)
    expect(new Set(wrong.map(({ title }) => title)).size).toBe(wrong.length)
    expect(wrong.filter(({ expect: expected }) => expected.length === 0)).toEqual([])
  })

  test('what is edited into a mistake was right before', async () => {
    const bases = wrongBases()
    expect(bases.length).toBeGreaterThan(5)
    for (const base of bases) expect((await catalogOf(base)).findings, base.title).toEqual([])
  })
})

describe('right', () => {
  test.each(right)('$title', async (each) => {
    const { findings, entries, locks } = await catalogOf(each)
    expect(findings).toEqual([])
    expect(entries.size + locks.size + Number(each.title.includes('empty lock'))).toBeGreaterThan(0)
    expect([...entries.values()].filter(({ state }) => state !== 'valid')).toEqual([])
  })

  test('there are enough, and none expects a finding', () => {
    expect(right.length).toBeGreaterThanOrEqual(50)
    expect(right.flatMap((each) => each.expect)).toEqual([])
  })

  test.each(PROFILES)(
    'together they use every field of the interface and of the policies: $name',
    (profile) => {
      // what is only warned of is used as well
      const warned = wrong.filter(({ expect: all }) => all.every(({ severity }) => severity === 'warning'))
      const used = fieldsUsed([...right, ...warned].filter((each) => each.profile === profile.name))
      expect(fieldsOfInterface(profile).filter((field) => !used.has(field))).toEqual([])
    },
  )
})

/** What is said of a finding in the corpus. */
function shown(finding: Finding, each: CorpusCase): Required<Expected> | object {
  const { code, severity, file, line, column, key } = finding
  return {
    code,
    severity,
    file,
    line,
    column,
    key,
    mark: finding.lineText === '' ? undefined : marked(finding, each),
  }
}

function filledIn(expected: Expected) {
  const { code, severity = 'error', file, line, column, key, mark } = expected
  return { code, severity, file, line, column, key, mark }
}

function marked(finding: Finding, each: CorpusCase): string {
  return sourceLine(finding, each).slice(finding.column - 1, finding.endColumn - 1)
}

function sourceLine({ file, line }: Finding, { files }: CorpusCase): string {
  const text = files[file]?.toString('utf8').replace(/^\ufeff/, '') ?? ''
  return text.split(/\r?\n/)[line - 1] ?? ''
}

/** What is wrong with how a finding is shown: its words, its line, and the carets below what is marked. */
function faultsOf(finding: Finding, each: CorpusCase): readonly string[] {
  const { message, hint, lineText } = finding
  const source = printable(sourceLine(finding, each))
  const [where, line = '', carets = ''] = pictureOf(finding).split('\n')
  const isMasked = lineText.includes(MASK)
  const hasPicture = lineText.trim() !== ''
  const below = line.slice(carets.indexOf('^'), carets.length)
  const checks: Readonly<Record<string, boolean>> = {
    'the message is a sentence': /\S.*[.]$/.test(message),
    'the hint is a sentence': /\S.*[.?]$/.test(hint),
    'the picture begins with the place': where === `${finding.file}:${finding.line}:${finding.column}`,
    'the line is that of the file, or masked': isMasked || lineText === '' || lineText === source,
    'the picture shows the line': !hasPicture || line === lineText,
    'the carets are below the line':
      !hasPicture || (carets.endsWith('^') && carets.indexOf('^') < lineText.length),
    'the carets are below what is marked':
      !hasPicture || isMasked || below === printable(marked(finding, each)),
  }
  return Object.keys(checks).filter((check) => checks[check] === false)
}
