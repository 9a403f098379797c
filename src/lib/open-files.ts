export function isOutOfFiles(code: unknown): code is 'EMFILE' | 'ENFILE' {
  return code === 'EMFILE' || code === 'ENFILE'
}

export const MORE_FILES =
  'Raise the limit of open files (ulimit -n, LimitNOFILE), or check why so many connections are open.'
