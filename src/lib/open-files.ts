/** Whether the code of an error says that no file and no connection can be opened: here, or on the whole machine. */
export function isOutOfFiles(code: unknown): code is 'EMFILE' | 'ENFILE' {
  return code === 'EMFILE' || code === 'ENFILE'
}

/** What to do about it. */
export const MORE_FILES =
  'Raise the limit of open files (ulimit -n, LimitNOFILE), or see what holds so many connections open.'
