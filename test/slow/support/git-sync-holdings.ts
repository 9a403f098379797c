import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What this process holds. */
export interface Holdings {
  /** Watches that the kernel keeps for us. */
  readonly watches: number
  /** Open files, sockets and the like. */
  readonly handles: number
  /** Bytes of the heap that are in use after a collection. */
  readonly heap: number
}

export async function holdings(): Promise<Holdings> {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('there is no collector to be called')
  // Weak references and finalisers let go only between turns.
  for (let round = 0; round < 4; round += 1) {
    collect()
    await setTimeout(20)
  }
  return { ...handles(), heap: process.memoryUsage().heapUsed }
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
