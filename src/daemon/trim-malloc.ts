/** Processors on which a `size_t` has eight bytes. */
const WIDE: readonly string[] = ['x64', 'arm64']

/**
 * Gives back to the system what the C library's allocator holds free between what is in use; by itself it gives back
 * only what is free at its end. Asked through Node's interface to C, which is experimental: where there is none, or where the C
 * library is another than glibc, nothing happens.
 * @returns whether anything was given back
 */
export function trimMalloc(): boolean {
  if (process.platform !== 'linux' || !WIDE.includes(process.arch)) return false
  try {
    using library = quietly(() => process.getBuiltinModule('node:ffi')).dlopen(null, {
      malloc_trim: { arguments: ['uint64'], return: 'int32' },
    })
    return library.functions.malloc_trim(0n) === 1
  } catch {
    return false
  }
}

/** Without the warning that what is asked for is experimental: nobody who reads the log can do anything about it. */
function quietly<T>(task: () => T): T {
  const emitWarning = process.emitWarning.bind(process)
  process.emitWarning = () => undefined
  try {
    return task()
  } finally {
    process.emitWarning = emitWarning
  }
}
