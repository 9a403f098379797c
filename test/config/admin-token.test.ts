import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SETTINGS } from '../../src/config/settings.ts'
import { ROOT } from '../support/process.ts'

test('the description of the admin token names each request that needs it, and no other', () => {
  const guarded = globSync('src/server/**/*.ts', { cwd: ROOT }).flatMap((file) => {
    const routes = readFileSync(`${ROOT}/${file}`, 'utf8').matchAll(/app\.post(?:<[^(]*>)?\(\s*'([^']+)'/g)
    return [...routes].map(([, path]) => `POST ${path}`)
  })
  const describe = SETTINGS.find(({ flag }) => flag === 'admin-token-file')?.describe ?? ''
  expect(guarded).not.toEqual([])
  expect([...describe.matchAll(/POST [\w/-]+/g)].map(String).toSorted()).toEqual(guarded.toSorted())
})
