import { relative, isAbsolute, sep } from 'node:path'

/** Also true for the folder itself. Links are not resolved. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
