import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { generatedDocs } from '../../docs/generate.ts'

test.each(Object.entries(generatedDocs()))('docs/%s is current (npm run docs)', (path, content) => {
  const file = new URL(`../../docs/${path}`, import.meta.url)
  expect(readFileSync(file, 'utf8')).toBe(content)
})
