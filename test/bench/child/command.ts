import { spawnSync } from 'node:child_process'
import { INPUT, print, timed } from './timed.ts'

/* Runs a command to its end, and says how long it took and what it printed. */

const { command, args, cwd } = INPUT as { command: string; args: readonly string[]; cwd: string }
const { wallMs, cpuMs, result } = await timed(() =>
  spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 64_000_000 }),
)
print({ wallMs, cpuMs, code: result.status, stdout: result.stdout, stderr: result.stderr })
