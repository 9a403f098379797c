/**
 * A process that swaps trees until it is ended. Every file of a tree carries the number of its generation.
 * Arguments: folder · `link` or `config-map` · milliseconds to wait between two swaps, at most; 0: none at all.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { alertText, commitName, swap, write } from './git-sync-trees.ts'

export const FILES = 6

/** Trees that are kept, so that a reading can also end well; git-sync keeps none, which is the harder case. */
const KEPT = 1

const [base = '', kind = '', pause = '0'] = process.argv.slice(2)

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
  for (let generation = 1; ; generation += 1) {
    publish(generation)
    if (Number(pause) > 0) await setTimeout(Math.random() * Number(pause))
  }
}
