import { describe, expect, test } from 'vitest'
import { EXAMPLE_FILE, findingExamples, findingsOfExample } from '../../docs/findings-page.ts'
import { FINDING_CODES } from '../../src/kinds/finding.ts'
import { pictureOf } from '../../src/manifest/diagnostics/diagnostic.ts'

const examples = findingExamples()
const texts = examples.filter(({ shell }) => shell !== true)

describe('the examples of docs/reference/findings.md', () => {
  test('are one for each code', () => {
    const codes = Object.keys(FINDING_CODES)
    expect(examples.map(({ code }) => code).toSorted()).toEqual(codes.toSorted())
    expect(new Set(examples.map(({ title }) => title)).size).toBe(codes.length)
    expect(texts.length).toBeGreaterThan(40)
  })

  test.each(texts)('$code: the wrong one is that, at a line that is marked', (example) => {
    const { code, file = EXAMPLE_FILE } = example
    const findings = findingsOfExample(example, 'wrong')
    expect(findings.length).toBeGreaterThan(0)
    expect(findings.filter((finding) => finding.code !== code)).toEqual([])
    for (const finding of findings) {
      expect(finding.file).toBe(file)
      expect(pictureOf(finding)).toMatch(/\n *\^+$/)
    }
  })

  test.each(texts)('$code: the right one is nothing', (example) => {
    expect(findingsOfExample(example, 'right')).toEqual([])
  })
})
