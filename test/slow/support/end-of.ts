import type { Program } from '../../support/process.ts'

/** Waits for the end of a program that was told to end, and kills it when it does not. */
export async function endOf(
  program: Pick<Program, 'ended' | 'stdout' | 'stderr'> & { readonly signal: (name: 'SIGKILL') => void },
  limitMs = 40_000,
): Promise<number | NodeJS.Signals> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => resolve('late'), limitMs)
  const ended = await Promise.race([program.ended, late])
  clearTimeout(timer)
  if (ended !== 'late') return ended
  program.signal('SIGKILL')
  throw new Error(`it did not end within ${limitMs} ms\n${program.stdout()}\n${program.stderr()}`)
}
