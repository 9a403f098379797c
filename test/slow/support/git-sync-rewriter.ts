/** Rewrites files while its parent is busy. Arguments: folder · number of files · what their text says. */
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { alertText, write } from './git-sync-trees.ts'

/** Files in one folder. */
const IN_A_FOLDER = 100

export function manyPath(number: number): string {
  return `team-${String(Math.floor(number / IN_A_FOLDER)).padStart(3, '0')}/m-${number}.yaml`
}

export function writeMany(root: string, count: number, stamp: string): void {
  for (let n = 0; n < count; n += 1) write(join(root, manyPath(n)), alertText(`m-${n}`, `${stamp}-${n}`))
}

/** A folder that comes when the kernel has dropped so much that nobody hears of it. */
export function writeLate(root: string, stamp: string): void {
  write(join(root, '.late', 'late.yaml'), alertText('late', stamp))
  renameSync(join(root, '.late'), join(root, 'zz-late'))
}

if (process.argv[1]?.endsWith('git-sync-rewriter.ts') === true) {
  const [root = '', count = '0', stamp = ''] = process.argv.slice(2)
  // Twice: the kernel puts equal events together that follow each other, but not these.
  writeMany(root, Number(count), 'between')
  writeMany(root, Number(count), stamp)
  writeLate(root, stamp)
}
