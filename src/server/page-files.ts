import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'

const FOLDER = new URL('page/', import.meta.url)

const HTML = 'text/html; charset=utf-8'
const CSS = 'text/css; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

/** What the page consists of: path, file, type. Nothing else of the disk can be asked for. */
const FILES = [
  ['/', 'index.html', HTML],
  ['/page.css', 'page.css', CSS],
  ['/parts.css', 'parts.css', CSS],
  ['/page.js', 'page.js', SCRIPT],
  ['/elements.js', 'elements.js', SCRIPT],
  ['/time.js', 'time.js', SCRIPT],
  ['/copy.js', 'copy.js', SCRIPT],
  ['/api.js', 'api.js', SCRIPT],
  ['/address.js', 'address.js', SCRIPT],
  ['/live.js', 'live.js', SCRIPT],
  ['/summary.js', 'summary.js', SCRIPT],
  ['/trouble.js', 'trouble.js', SCRIPT],
  ['/finding.js', 'finding.js', SCRIPT],
  ['/list.js', 'list.js', SCRIPT],
  ['/story.js', 'story.js', SCRIPT],
  ['/source.js', 'source.js', SCRIPT],
  ['/states.js', 'states.js', SCRIPT],
  ['/resource.js', 'resource.js', SCRIPT],
] as const

/** `GET /`: the page for people. Its files are read once, at start. */
export async function registerPage(app: FastifyInstance): Promise<void> {
  for (const [path, file, type] of FILES) {
    const content = await readFile(new URL(file, FOLDER))
    app.get(path, (_request, reply) =>
      reply.header('content-type', type).header('cache-control', 'no-cache').send(content),
    )
  }
}
