import { relative, isAbsolute, sep } from 'node:path'

/** Whether a path is a folder or inside it. Does not resolve links. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
