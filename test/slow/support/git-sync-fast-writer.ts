/**
 * A process that swaps trees until it is ended. Every file of a tree carries the number of its generation.
 * Arguments: folder · `link` or `config-map`. A message says how long to wait between two swaps, at most: ms. At first it does not wait.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { alertText, commitName, swap, write } from './git-sync-trees.ts'

export const FILES = 6

/** Trees that are kept, so that a reading can also end well; git-sync keeps none, which is the harder case. */
const KEPT = 1

const [base = '', kind = ''] = process.argv.slice(2)

function publish(generation: number): void {
  const [dir, link, tree] =
    kind === 'link'
      ? [base, 'current', commitName(generation)]
      : [join(base, 'mount'), '..data', `..${commitName(generation)}`]
  mkdirSync(dir, { recursive: true })
  for (let n = 0; n < FILES; n += 1)
    write(join(dir, tree, `f${n}.yaml`), alertText(`n-${n}`, `g-${generation}`))
  swap(dir, link, tree)
  if (generation > KEPT + 1) {
    const old = commitName(generation - 1 - KEPT)
    rmSync(join(dir, kind === 'link' ? old : `..${old}`), { recursive: true })
  }
}

if (process.argv[1]?.endsWith('git-sync-fast-writer.ts') === true) {
  let pauseMs = 0
  process.on('message', (ms) => (pauseMs = Number(ms)))
  for (let generation = 1; ; generation += 1) {
    publish(generation)
    await (pauseMs < 1 ? setImmediate() : setTimeout(Math.random() * pauseMs))
  }
}
