import { readFileSync } from 'node:fs'
import { fastify } from 'fastify'
import { expect, it } from 'vitest'
import { registerApi, registerMetrics } from '../../src/server/routes.ts'
import { fakeParts } from './fake-parts.ts'

const DOCUMENTED = readFileSync(new URL('../../docs/reference/api.md', import.meta.url), 'utf8')

/** What the server answers, as it registers it, but for the files of the page: `GET /api/v1/resources/{kind}/{name}`. */
function routes(): readonly string[] {
  const found = ['GET /healthz', 'GET /readyz']
  const app = fastify({ exposeHeadRoutes: false })
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) found.push(`${one} ${url.replaceAll(/:(\w+)/g, '{$1}')}`)
  })
  registerApi(app, fakeParts())
  registerMetrics(app, fakeParts())
  return found
}

it('docs/reference/api.md tells of all that the server answers, and of nothing else', () => {
  const told = [...DOCUMENTED.matchAll(/^\| `((?:GET|POST) \/\S+)`/gm)].map(([, route]) => route)
  expect(told).toContain('GET /api/v1/attention')
  expect(new Set(told)).toEqual(new Set(routes()))
})

it('four requests set something off, and all others only read', () => {
  expect(
    routes()
      .filter((route) => !route.startsWith('GET '))
      .toSorted(),
  ).toEqual(['POST /-/allow', 'POST /-/operate', 'POST /-/reconcile', 'POST /api/v1/plan'])
})
