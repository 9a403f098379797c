import child from 'node:child_process'
import { enableCompileCache, syncBuiltinESMExports } from 'node:module'
import { expect } from 'vitest'

/* Vitest setup: `npm test` starts no program. Tests that need a process are in `*.program.test.ts`. */

const STARTERS = ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'] as const

for (const name of STARTERS) {
  Object.defineProperty(child, name, {
    value: (program: string) => {
      const file = expect.getState().testPath
      throw new Error(
        `${file} starts ${program}: name it *.program.test.ts, because npm test starts no program`,
      )
    },
  })
}
syncBuiltinESMExports()

// The workers, and later runs, share what they compiled.
enableCompileCache()
