import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

/** Time that some work took in a process of its own, cold: nothing of it had run there before. */
export interface Timed {
  readonly wallMs: number
  /** User and system time of the whole process while it worked, all threads. */
  readonly cpuMs: number
}

export function runCommand(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<Timed & { readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  return runChild('command.ts', { command, args, cwd })
}

/** Runs a script of `child/` to its end in a fresh process; what it prints is JSON. */
export async function runChild<T>(script: string, input: unknown, flags: readonly string[] = []): Promise<T> {
  const path = fileURLToPath(new URL(`child/${script}`, import.meta.url))
  const child = spawn(process.execPath, [...flags, path, JSON.stringify(input)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const killWithUs = () => child.kill('SIGKILL')
  process.once('exit', killWithUs)
  const said = await text(child.stdout)
  process.off('exit', killWithUs)
  if (said === '') throw new Error(`${script} said nothing`)
  return JSON.parse(said) as T
}
