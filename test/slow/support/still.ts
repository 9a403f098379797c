import { readFileSync } from 'node:fs'
import { until } from '../../support/until.ts'

/** Waits until a process that was stopped, by a failpoint say, stands still. A SIGCONT before that would be lost. */
export async function untilStill(pid: number): Promise<void> {
  await until('the process to stand still', () => /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')))
}

/** Stops a process (SIGSTOP), and waits until it stands still. */
export async function stop(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  await untilStill(pid)
}
