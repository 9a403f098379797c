import { readdirSync, readFileSync } from 'node:fs'
import { json } from 'node:stream/consumers'
import { getHeapSnapshot } from 'node:v8'

export interface Holdings {
  /** Watches that the kernel keeps for us. */
  readonly watches: number
  /** Open files, sockets and the like. */
  readonly handles: number
  /** Bytes of the objects, arrays and texts that can be reached; compiled code, which comes and goes, is left out. */
  readonly heap: number
}

export async function holdings(): Promise<Holdings> {
  return { ...handles(), heap: await reachableBytes() }
}

/** The part of V8's heap snapshot that is read here: nodes in rows of `node_fields`. */
interface Snapshot {
  readonly snapshot: {
    readonly meta: { readonly node_fields: readonly string[]; readonly node_types: unknown[] }
  }
  readonly nodes: readonly number[]
}

const COUNTED: ReadonlySet<string> = new Set([
  'object',
  'array',
  'string',
  'concatenated string',
  'sliced string',
  'closure',
  'number',
])

async function reachableBytes(): Promise<number> {
  const { snapshot, nodes } = (await json(getHeapSnapshot())) as Snapshot // V8's own format
  const { node_fields: fields, node_types: types } = snapshot.meta
  const [typeAt, sizeAt] = [fields.indexOf('type'), fields.indexOf('self_size')]
  const names = types[typeAt] as readonly string[] // the first of the types is the list of names
  let bytes = 0
  for (let at = 0; at < nodes.length; at += fields.length) {
    if (COUNTED.has(names[nodes[at + typeAt] ?? 0] ?? '')) bytes += nodes[at + sizeAt] ?? 0
  }
  return bytes
}

function handles(): Pick<Holdings, 'watches' | 'handles'> {
  let watches = 0
  const names = readdirSync('/proc/self/fdinfo')
  for (const name of names) watches += watchesOf(`/proc/self/fdinfo/${name}`)
  return { watches, handles: names.length }
}

function watchesOf(path: string): number {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('inotify ')).length
  } catch {
    return 0 // the listing's own descriptor is closed by now
  }
}
