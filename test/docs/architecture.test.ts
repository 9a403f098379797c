import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/process.ts'

const PAGE = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')

test('docs/architecture.md names files and folders that are there', () => {
  const paths = [...PAGE.matchAll(/`((?:src|test|docs|helm|manifests)\/[\w./-]*)`/g)].map(
    ([, path = '']) => path,
  )
  expect(paths.length).toBeGreaterThan(60)
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

test('its links lead to files that are there', () => {
  const links = [...PAGE.matchAll(/\]\(([^)#]+)\)/g)].map(([, link = '']) => link)
  expect(links.length).toBeGreaterThan(3)
  expect(links.filter((link) => !existsSync(join(ROOT, 'docs', link)))).toEqual([])
})
