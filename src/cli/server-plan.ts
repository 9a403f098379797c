import { folderOf } from './command-context.ts'
import type { Settings } from '../config/settings.ts'
import { type FileTree, MOST_PLANNED, type Plan } from '../contract/plan.ts'
import { readTree } from '../manifest/files/read-tree.ts'
import type { Progress } from './render/progress.ts'
import { CommandError, type Io } from './io.ts'
import { adminTokenOf, callServer, expectObject } from './server-client.ts'

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
  const token = await adminTokenOf(settings, 'plan --server')
  progress.show(`Waiting for the plan of ${server}`)
  const call = { command: 'plan', server }
  const reply = await callServer(io, {
    ...call,
    method: 'POST',
    path: 'api/v1/plan',
    token,
    body: { type: 'application/x-ndjson', text: linesOf(tree, folderOf(settings.manifests)) },
    timeoutMs: TIMEOUT_MS,
  })
  const body: unknown = expectObject(call, reply)
  return body as Plan // as the daemon made it
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
