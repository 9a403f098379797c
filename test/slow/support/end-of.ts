import type { Program } from '../../support/process.ts'
import { LIMIT_MS } from '../../support/until.ts'

/** Waits for the end of a program that was told to end, and kills it when it does not. */
export async function endOf(
  program: Pick<Program, 'ended' | 'stdout' | 'stderr'> & { readonly signal: (name: 'SIGKILL') => void },
): Promise<number | NodeJS.Signals> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => resolve('late'), LIMIT_MS)
  const ended = await Promise.race([program.ended, late])
  clearTimeout(timer)
  if (ended !== 'late') return ended
  program.signal('SIGKILL')
  throw new Error(`it did not end within ${LIMIT_MS} ms\n${program.stdout()}\n${program.stderr()}`)
}
