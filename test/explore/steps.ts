import { undecidedIntent } from '../../src/plan/outcome-unknown.ts'
import { passTime } from './hiding.ts'
import { made } from './laws.ts'
import { look, secondLook } from './look.ts'
import { edited, LAG_MS, noteEdited } from './life.ts'
import { MINUTE, forgetAll, keysOf, shortId, type Model } from './model.ts'
import { changingEdits, consoleSteps } from './changing-steps.ts'
import { editsOf } from './edits.ts'
import { podSteps } from './pod-steps.ts'
import { wordsOf } from './words.ts'
import { settle, tell, type Run, type Step } from './run.ts'
import { WAITS, type Wait, type World } from './worlds.ts'

export function stepsOf(model: Model, world: World): readonly Step[] {
  if (model.pods !== undefined) return [...podSteps(model, world), ...platformSteps(model, world)]
  return [
    ...keysOf(model).map(look),
    ...(world.faults.includes('second daemon') ? keysOf(model).map(secondLook) : []),
    ...world.waits.map(wait),
    ...platformSteps(model, world),
    ...consoleSteps(model, world),
    ...editsOf(model, world),
    ...changingEdits(model, world),
    ...wordsOf(model, world),
    ...(world.crashes || world.faults.includes('restart') ? [crash] : []),
  ]
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

function platformSteps(model: Model, { faults, twins = false }: World): readonly Step[] {
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
  if (faults.includes('idle')) {
    if (model.isIdle) add('awake', 0, 'The services are awake again.', (m) => (m.isIdle = false))
    else add('idle', 1, 'The services fall asleep.', (m) => (m.isIdle = true))
  }
  if (faults.includes('reads')) {
    if (model.isDiskGone) add('disk back', 0, 'The ledger can be read again.', (m) => (m.isDiskGone = false))
    else add('disk gone', 1, 'The ledger cannot be read.', (m) => (m.isDiskGone = true))
  }
  if (faults.includes('clock')) {
    for (const ms of [60 * MINUTE, -60 * MINUTE])
      add(`clock ${ms}`, 1, `The wall clock jumps by ${ms / MINUTE} min.`, (m) => (m.jumpedMs += ms))
  }
  if (faults.includes('copies')) {
    if (model.copy === undefined)
      add('copy', 0, 'Somebody copies the ledger.', (m) => (m.copy = new Map(m.records)))
    if (isLocked(model)) {
      steps.push(
        putBack('lost', new Map(), 'Pipewright is stopped, its ledger is lost, and it starts again.'),
      )
      if (model.copy !== undefined)
        steps.push(putBack('put back', model.copy, 'Pipewright is stopped, and starts with the copy.'))
    }
  }
  if (faults.includes('restores')) {
    const git = model.wishes.map((wish) => ({ ...wish }))
    if (model.restorable === undefined)
      add('back up', 0, 'Git and the ledger are backed up.', (m) => {
        m.restorable = { wishes: git, records: new Map(m.records), askedAt: { ...m.askedAt } }
      })
    else {
      const { wishes, records, askedAt } = model.restorable
      if (JSON.stringify(wishes) !== JSON.stringify(git))
        steps.push({
          ...restore('Git', (m) => {
            m.wishes = wishes.map((wish) => ({ ...wish }))
            edited(m)
          }),
          kind: 'edit',
        })
      if (JSON.stringify([...records]) !== JSON.stringify([...model.records]))
        steps.push(
          restore('the ledger', (m) => {
            m.records = new Map(records)
            m.askedAt = { ...askedAt }
            noteEdited(m)
            for (const pipe of m.pipes) pipe.isListed = true
            forgetAll(m)
          }),
        )
    }
  }
  // A list shows them all by then, and as they are asked for.
  if (faults.includes('listed losses') && isListed(model, faults.includes('console renames')))
    steps.push(putBack('lost', new Map(), 'Pipewright is stopped, its ledger is lost, and it starts again.'))
  for (const [index, { id, view }] of model.pipes.entries()) {
    const pipe = `pipe ${shortId(id)}`
    const set = (to: typeof view) => (m: Model) => {
      const changed = m.pipes[index]
      if (changed !== undefined) changed.view = to
      m.isHit = true
    }
    // The same story of the other one of them is told.
    if (twins && !model.isHit && index > 0) continue
    if (view === 'seen') {
      if (faults.includes('hides') && !isMissed(model, id))
        add(`hide ${index}`, 1, `The platform hides ${pipe} from reads.`, set('hidden'))
      if (faults.includes('gateway'))
        add(`503 ${index}`, 1, `A gateway answers 503 for ${pipe}.`, set('unreadable'))
    } else add(`show ${index}`, 0, `Reads find ${pipe} again.`, set('seen'))
    if (faults.includes('changes'))
      add(`change ${index}`, 1, `Somebody changes ${pipe} in the console.`, (m) => {
        const changed = m.pipes[index]
        if (changed !== undefined) changed.isChanged = !(changed.isChanged ?? false)
      })
    if (faults.includes('deletes'))
      add(`delete ${index}`, 1, `Somebody deletes ${pipe} in the console.`, (m) => {
        m.pipes.splice(index, 1)
        m.isHit = true
      })
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

/** What is found only after so long breaks a row of 404s. */
const ROW_MS = 3 * MINUTE

/**
 * Whether a pipe that can be read was missed by a look a short time ago. It is not hidden again before it is looked at: a row
 * of 404s with a pipe in between that nobody read is not told from one without.
 */
function isMissed({ records, memory, now }: Model, id: string): boolean {
  return memory.looks.some(
    ([key, { misses }]) =>
      misses !== undefined && now - misses.lastAt <= ROW_MS && records.get(key)?.remote?.id === id,
  )
}

function restore(what: string, change: (model: Model) => void): Step {
  return {
    name: `restore ${what}`,
    cost: 1,
    kind: 'crash',
    play(run) {
      tell(run, `A backup of ${what} is restored.`)
      change(run.model)
      settle(run)
    },
  }
}

function putBack(name: string, records: NonNullable<Model['copy']>, line: string): Step {
  return {
    name,
    cost: 1,
    kind: 'crash',
    play(run) {
      tell(run, line)
      run.model.records = new Map(records)
      // A copy that is older does not know when a pipe was replaced.
      run.model.replacedAt = {}
      for (const pipe of run.model.pipes) if (run.world.profile !== undefined) pipe.isListed = true
      forgetAll(run.model)
    },
  }
}

/** Whether a Lock names every pipe that there is, and nothing is open: then a ledger can be put back. */
function isLocked({ pipes, lock, late, wishes, records }: Model): boolean {
  const ids = new Set(Object.values(lock))
  const isOpen = [...records.values()].some((record) => undecidedIntent(record) !== undefined)
  return (
    !isOpen && late.length === 0 && wishes.length > 0 && pipes.every(({ id }) => ids.has(id)) && ids.size > 0
  )
}

/**
 * Whether a list tells of every pipe whose it is, so that a lost ledger is made anew of it.
 * @param isRenamed it tells by the source and the destination
 */
function isListed({ pipes, late, wishes, records, now }: Model, isRenamed: boolean): boolean {
  const isOpen = [...records.values()].some((record) => undecidedIntent(record) !== undefined)
  const isUnlisted = pipes.some(({ madeAt, view }) => now - madeAt < LAG_MS || view !== 'seen')
  const names = wishes.map(({ name, platformName = name }) => platformName)
  const isTold = isRenamed || pipes.every(({ name }) => names.includes(name))
  return !isOpen && late.length === 0 && !isUnlisted && isTold
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
