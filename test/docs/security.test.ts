import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ROOT } from '../support/process.ts'

const PAGE = readFileSync(`${ROOT}/docs/explanation/security.md`, 'utf8')

/** The last column of the tables that have one for tests, without their heads. */
const HELD_BY = PAGE.split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').slice(1, -1))
  .filter((cells) => cells.length === 3 && !/^[ -]+$/.test(cells[0] ?? ''))
  .map(([what = '', , tests = '']) => ({ what: what.trim(), tests: tests.trim() }))
  .filter(({ tests }) => tests !== 'held by')

test('the page about security names tests that there are', () => {
  const named = [...PAGE.matchAll(/`([a-z/.-]+\.test\.ts)`/g)].map(([, file]) => `test/${file}`)
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((file) => !existsSync(`${ROOT}/${file}`))).toEqual([])
})

test('it says of everything in its tables which test holds it', () => {
  expect(HELD_BY.length).toBeGreaterThan(15)
  expect(
    HELD_BY.filter(({ tests }) => !/^`[a-z/.-]+\.test\.ts`/.test(tests)).map(({ what }) => what),
  ).toEqual([])
})
