import { isAbsolute, relative, sep } from 'node:path'

export function isOutOfFiles(code: unknown): code is 'EMFILE' | 'ENFILE' {
  return code === 'EMFILE' || code === 'ENFILE'
}

export const MORE_FILES =
  'Raise the limit of open files (ulimit -n, LimitNOFILE), or check why so many connections are open.'

/** Also true for the folder itself. Links are not resolved. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
