import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const SERVER = new URL('../../src/server/', import.meta.url)
const DOCUMENTED = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8')

/** The paths that the server answers, as its code registers them, but for the files of the page. */
const PATHS = readdirSync(SERVER)
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => [
    ...readFileSync(new URL(file, SERVER), 'utf8').matchAll(
      /'(\/(?:api|-)\/[\w/:-]+|\/(?:metrics|healthz|readyz))'/g,
    ),
  ])
  .map(([, path]) => (path ?? '').replaceAll(/:(\w+)/g, '{$1}'))

describe('docs/api.md', () => {
  it('is compared with all that the server answers', () => {
    expect(PATHS).toContain('/api/v1/attention')
    expect(PATHS).toContain('/healthz')
    expect(new Set(PATHS).size).toBeGreaterThanOrEqual(14)
  })

  // the progress of a reconcile is told under two paths; the one that replies name is documented
  it.each([...new Set(PATHS)].filter((path) => path !== '/-/reconcile/{token}'))('tells of %s', (path) => {
    expect(DOCUMENTED).toMatch(new RegExp(`\`(GET|POST) ${path.replaceAll(/[{}]/g, String.raw`\$&`)}\``))
  })
})
