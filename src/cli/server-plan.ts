import { request } from 'undici'
import { readFile } from 'node:fs/promises'
import type { Settings } from '../config/settings.ts'
import { type FileTree, MOST_PLANNED, type Plan } from '../contract/plan.ts'
import { isObject } from '../lib/json.ts'
import { readTree } from '../manifest/files/read-tree.ts'
import type { Progress } from './render/progress.ts'
import { CommandError, EXIT, type Io, VERSION } from './io.ts'

/** Longer than a daemon takes for a plan at most: ms. */
const TIMEOUT_MS = 11 * 60_000

/** Asks a running daemon for the plan: it has the ledger, the credentials and the secrets. @throws {CommandError} */
export async function planAtServer(
  io: Io,
  settings: Settings,
  { server, progress }: { readonly server: string; readonly progress: Progress },
): Promise<Plan> {
  const tree = await readTree(settings.manifests, io.stop.stopping)
  if ('problem' in tree) throw new CommandError(`${settings.manifests}: ${tree.problem}`)
  const bytes = tree.files.reduce((sum, file) => sum + file.bytes.length, 0)
  if (bytes > MOST_PLANNED.bytes) {
    throw new CommandError(
      `plan: the manifests have ${bytes} bytes; a server takes ${MOST_PLANNED.bytes}. Plan without --server.`,
    )
  }
  progress.show(`Waiting for the plan of ${server}`)
  const { status, body } = await ask(io, server, {
    token: await tokenOf(settings),
    body: linesOf(tree, settings.manifests),
  })
  if (status === 200 && isObject(body) && Array.isArray(body['items'])) return body as unknown as Plan // as the daemon made it
  const said = isObject(body) && typeof body['error'] === 'string' ? body['error'] : `it answered ${status}`
  const hint = isObject(body) && typeof body['hint'] === 'string' ? ` ${body['hint']}` : ''
  throw new CommandError(`plan: ${server}: ${said}.${hint}`)
}

async function tokenOf({ adminTokenFile }: Settings): Promise<string> {
  if (adminTokenFile === undefined) {
    const why =
      'it needs the admin token of the server. Give the file that holds it with --admin-token-file FILE'
    throw new CommandError(`plan --server: ${why} (PIPEWRIGHT_ADMIN_TOKEN_FILE).`, EXIT.usage)
  }
  const text = await readFile(adminTokenFile, 'utf8').catch((error: unknown) => {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new CommandError(`plan: the admin token cannot be read from ${adminTokenFile} (${why}).`)
  })
  if (text.trim() === '')
    throw new CommandError(`plan: ${adminTokenFile} is empty; it is to hold the admin token.`)
  return text.trim()
}

/** A line each, so that the server need not parse all at once. */
function linesOf({ files, ...head }: FileTree, manifests: string): string {
  const lines: string[] = [JSON.stringify({ ...head, manifests })]
  for (const { file, bytes } of files) {
    const text = bytes.toString('utf8')
    const isText = Buffer.from(text, 'utf8').equals(bytes)
    lines.push(JSON.stringify(isText ? { file, text } : { file, base64: bytes.toString('base64') }))
  }
  return `${lines.join('\n')}\n`
}

async function ask(
  { stop }: Io,
  server: string,
  { token, body }: { readonly token: string; readonly body: string },
): Promise<{ readonly status: number; readonly body: unknown }> {
  const url = new URL('api/v1/plan', server.endsWith('/') ? server : `${server}/`)
  try {
    const reply = await request(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/x-ndjson',
        'user-agent': `pipewright/${VERSION}`,
      },
      body,
      signal: AbortSignal.any([stop.stopping, AbortSignal.timeout(TIMEOUT_MS)]),
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    })
    return { status: reply.statusCode, body: parsed(await reply.body.text()) }
  } catch (error) {
    if (stop.stopping.aborted) throw new CommandError('plan: stopped before the server answered.')
    const why =
      error instanceof Error
        ? error.message || ('code' in error ? String(error.code) : error.name)
        : String(error)
    throw new CommandError(
      `plan: ${server} does not answer (${why}). Check that the daemon runs, and that this is its address.`,
    )
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
