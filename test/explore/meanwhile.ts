import { choose, tell, type Process, type Run, type Step, type Waiting } from './run.ts'
import { stepsOf } from './steps.ts'

/** Anything may happen while a request waits, as often as the world allows. */
export async function passMeanwhile(
  run: Run,
  process: Process,
  when: string,
  waiting: Waiting,
): Promise<void> {
  while (run.meanwhile > 0 && !process.isDead) {
    const steps = stepsOf(run.model, run.world).filter((step) => mayHappen(run, step, waiting))
    const name = choose(run, [
      { name: 'nothing', cost: 0 },
      ...steps.map((step) => ({ name: step.name, cost: step.cost })),
    ])
    const step = steps.find((each) => each.name === name)
    if (step === undefined) return
    run.meanwhile -= 1
    run.hadMeanwhile = true
    tell(run, `  Meanwhile, ${when}:`)
    await step.play(run)
    if (step.kind === 'edit') for (const each of run.processes) each.read()
  }
}

function mayHappen(run: Run, step: Step, waiting: Waiting): boolean {
  switch (step.kind) {
    case 'look':
      return waiting !== 'standstill' && !run.busy.has(step.key ?? '')
    case 'time':
      return waiting !== 'reply'
    case 'crash':
      return false
    case 'edit':
      return !run.busy.has(step.key ?? '')
    case 'shell':
    case 'platform':
      return true
  }
}
