export function isOutOfFiles(code: unknown): code is 'EMFILE' | 'ENFILE' {
  return code === 'EMFILE' || code === 'ENFILE'
}

export const MORE_FILES =
  'Raise the limit of open files (ulimit -n, LimitNOFILE), or see what holds so many connections open.'
