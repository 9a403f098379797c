import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { FastifyInstance } from 'fastify'

const FOLDER = new URL('page/', import.meta.url)

/** What a browser loads; nothing else of the folder, or of the disk, can be asked for. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
])

/** `GET /`: the page for people. Its files are read once, at start. */
export async function registerPage(app: FastifyInstance): Promise<void> {
  for (const file of await readdir(FOLDER)) {
    const type = TYPES.get(extname(file))
    if (type === undefined) continue
    const content = await readFile(new URL(file, FOLDER))
    app.get(file === 'index.html' ? '/' : `/${file}`, (_request, reply) =>
      reply.header('content-type', type).header('cache-control', 'no-cache').send(content),
    )
  }
}
