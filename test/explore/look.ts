import type { Key } from '../../src/kinds/key.ts'
import { keepSent } from './change-laws.ts'
import { judgeLook, seenBefore } from './laws.ts'
import { noteAsked } from './removal-laws.ts'
import { processOf, secondProcess } from './process.ts'
import { tell, type Run, type Step } from './run.ts'

export function look(key: Key): Step {
  return { name: `look ${key}`, cost: 0, kind: 'look', key, play: (run) => lookAt(run, key) }
}

/** A second daemon, which only a ledger without a lock lets in, looks at a key. */
export function secondLook(key: Key): Step {
  return {
    name: `second ${key}`,
    cost: 1,
    kind: 'platform',
    async play(run) {
      tell(run, `A second daemon looks at ${key}.`)
      const process = secondProcess(run)
      await process.reconcile(key)
      run.processes.delete(process)
    },
  }
}

export async function lookAt(run: Run, key: Key): Promise<void> {
  const process = processOf(run)
  const seen = seenBefore(run.model, key)
  tell(run, `Pipewright looks at ${key}.`)
  const end = await process.reconcile(key)
  if (end === 'died') return
  keepSent(run)
  noteAsked(run.model, key)
  const { action, outcome } = end
  const reason = 'reason' in outcome && outcome.reason !== undefined ? outcome.reason : action.reason
  tell(
    run,
    `  It says ${outcome.result === 'unknown' ? 'OutcomeUnknown' : reason} of ${key} (${action.type}).`,
  )
  judgeLook(run, key, seen, end)
}
