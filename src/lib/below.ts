import { relative, isAbsolute, sep } from 'node:path'

/** Whether a path is that of a folder, or lies in it. Of paths as they are written: links are somebody else's matter. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
