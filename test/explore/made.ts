import { judgePipe } from './laws.ts'
import type { Pipe } from './model.ts'
import { settle, type Run } from './run.ts'

/** A create has worked: there is one pipe more. */
export function made(run: Run, pipe: Pipe): void {
  judgePipe(run, pipe)
  run.model.pipes.push({ ...pipe })
  settle(run)
}
