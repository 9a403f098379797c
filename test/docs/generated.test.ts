import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { generatedDocs } from '../../docs/generate.ts'

test('the generated documents are current (npm run docs)', () => {
  for (const [path, content] of Object.entries(generatedDocs()))
    expect.soft(readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8'), path).toBe(content)
})
