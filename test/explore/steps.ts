import type { Key } from '../../src/kinds/key.ts'
import { passTime } from './hiding.ts'
import { look } from './look.ts'
import { made } from './made.ts'
import { forgetAll, keyOfWish, shortId, type Model } from './model.ts'
import { editsOf } from './edits.ts'
import { wordsOf } from './words.ts'
import { settle, tell, type Run, type Step } from './run.ts'
import { WAITS, type Wait, type World } from './worlds.ts'

/** All that can happen next. */
export function stepsOf(model: Model, world: World): readonly Step[] {
  return [
    ...keysOf(model).map(look),
    ...world.waits.map(wait),
    ...platformSteps(model, world),
    ...editsOf(model, world),
    ...wordsOf(model, world),
    ...(world.crashes || world.faults.includes('restart') ? [crash] : []),
  ]
}

function keysOf({ wishes, records, endpoint }: Model): readonly Key[] {
  const keys = new Set<Key>([
    ...wishes.filter(({ isPresent }) => isPresent).map(keyOfWish),
    ...records.keys(),
  ])
  if (endpoint !== undefined) keys.add('QueryEndpoint/one')
  return [...keys].toSorted()
}

function wait(name: Wait): Step {
  return {
    name,
    cost: 0,
    kind: 'time',
    play(run) {
      tell(run, `${name} pass.`)
      for (const pipe of passTime(run.model, WAITS[name]))
        tell(run, `Pipe ${shortId(pipe.id)} can be read again, as it has to by now.`)
    },
  }
}

function platformSteps(model: Model, { faults }: World): readonly Step[] {
  const steps: Step[] = []
  const add = (name: string, cost: number, line: string, change: (model: Model) => void): void => {
    const play = (run: Run): void => {
      tell(run, line)
      change(run.model)
      settle(run)
    }
    steps.push({ name, cost, kind: 'platform', play })
  }
  if (faults.includes('permission')) {
    if (model.isPermitted)
      add('permission lost', 1, 'The API key loses its permission.', (m) => (m.isPermitted = false))
    else add('permission back', 0, 'The API key gets its permission back.', (m) => (m.isPermitted = true))
  }
  if (faults.includes('disk')) {
    if (model.isDiskFull)
      add('disk freed', 0, 'There is room on the disk again.', (m) => (m.isDiskFull = false))
    else add('disk full', 1, 'The disk of the ledger is full.', (m) => (m.isDiskFull = true))
  }
  for (const [index, { id, view }] of model.pipes.entries()) {
    const pipe = `pipe ${shortId(id)}`
    const set = (to: typeof view) => (m: Model) => {
      const changed = m.pipes[index]
      if (changed !== undefined) changed.view = to
    }
    if (view === 'seen') {
      if (faults.includes('hides') && !isMissed(model, id))
        add(`hide ${index}`, 1, `The platform hides ${pipe} from reads.`, set('hidden'))
      if (faults.includes('gateway'))
        add(`503 ${index}`, 1, `A gateway answers 503 for ${pipe}.`, set('unreadable'))
    } else add(`show ${index}`, 0, `Reads find ${pipe} again.`, set('seen'))
    if (faults.includes('deletes'))
      add(`delete ${index}`, 1, `Somebody deletes ${pipe} in the console.`, (m) => m.pipes.splice(index, 1))
  }
  for (const [index, { pipe, before }] of model.late.entries()) {
    if (model.now >= before) continue
    steps.push({
      name: `arrives ${index}`,
      cost: 0,
      kind: 'platform',
      play(run) {
        tell(
          run,
          `The POST of intent ${shortId(pipe.intentId ?? '')} arrives: pipe ${shortId(pipe.id)} is made.`,
        )
        run.model.late.splice(index, 1)
        made(run, pipe)
      },
    })
  }
  return steps
}

/**
 * Whether a pipe that can be read was missed by the last look. It is not hidden again before it is looked at: a row of 404s
 * with a pipe in between that nobody read is not told from one without.
 */
function isMissed({ records, memory }: Model, id: string): boolean {
  return memory.looks.some(([key, { misses }]) => misses !== undefined && records.get(key)?.pipe?.id === id)
}

const crash: Step = {
  name: 'crash',
  cost: 1,
  kind: 'crash',
  play(run) {
    tell(run, 'Pipewright is killed and started again.')
    forgetAll(run.model)
  },
}
