import {
  changes,
  comesToRest,
  edited,
  isAsAsked,
  isSame,
  lives,
  OTHER_BROKER,
  BROKER,
  rests,
  born,
  valuesOf,
  vanishes,
  wishOfPipe,
  type Table,
} from './life.ts'
import { keyOfWish, newId, shortId, type Model, type Pipe, type Wish } from './model.ts'
import { settle, tell, type Run, type Step } from './run.ts'
import type { EditKind, World } from './worlds.ts'

/* What happens to pipes of a service that lists and changes them, but for what Pipewright does. */

/** What a person does in the console, and what time does. */
export function consoleSteps(model: Model, { faults, profile }: World): readonly Step[] {
  if (profile === undefined) return []
  const steps: Step[] = []
  const add = (name: string, cost: number, line: string, change: (model: Model) => void): void => {
    const play = (run: Run): void => {
      tell(run, line)
      change(run.model)
      settle(run)
    }
    steps.push({ name, cost, kind: 'platform', play })
  }
  for (const [index, { id, life, name }] of model.pipes.entries()) {
    if (life === undefined) continue
    const pipe = `pipe ${shortId(id)}`
    const of = (change: (model: Model, pipe: Pipe) => void) => (m: Model) => {
      const changed = m.pipes[index]
      if (changed !== undefined) change(m, changed)
    }
    if (life.live.state === 'Stopping')
      add(`rests ${index}`, 0, `${pipe} is stopped by now.`, of(comesToRest))
    if (life.live.state === 'Deleting') add(`gone ${index}`, 0, `${pipe} is gone by now.`, of(vanishes))
    if (life.before !== undefined && faults.includes('stale'))
      add(
        `shows ${index}`,
        0,
        `Replies show ${pipe} as it is.`,
        of((_, each) => lives(each, { before: undefined })),
      )
    if (faults.includes('console edits'))
      add(`edit ${index}`, 1, `Somebody changes the topics of ${pipe} in the console.`, of(byHand))
    // To what its manifest may be renamed to, and back.
    const other = name.endsWith('y') ? name.slice(0, -1) : `${name}y`
    if (faults.includes('console renames'))
      add(`rename ${index}`, 1, `Somebody renames ${pipe} to "${other}" in the console.`, (m) => {
        const renamed = m.pipes[index]
        if (renamed !== undefined) renamed.name = other
      })
    if (faults.includes('console rests') && life.live.state === 'Running')
      add(`stop ${index}`, 1, `Somebody stops ${pipe} in the console.`, of(stopByHand))
    if (faults.includes('console rests') && life.live.state === 'Stopped')
      add(
        `start ${index}`,
        1,
        `Somebody starts ${pipe} in the console.`,
        of((m, each) => rests(m, each, undefined, each.life?.isOurs ?? false)),
      )
  }
  const held = new Set([...model.records.values()].map(({ remote }) => remote?.id))
  if (
    faults.includes('console makes') &&
    model.pipes.every(({ id, wish }) => wish !== undefined || held.has(id))
  )
    for (const wish of model.wishes.slice(0, 1))
      for (const isAlike of [true, false])
        add(
          `make ${isAlike}`,
          1,
          `Somebody makes ${isAlike ? '' : 'another '}pipe "${wish.name}" in the console${isAlike ? ', as its manifest says' : ''}.`,
          (m) => makeByHand(m, wish, isAlike),
        )
  return steps
}

function byHand(model: Model, pipe: Pipe): void {
  const { life } = pipe
  const wish = wishOfPipe(model, pipe)
  if (life === undefined) return
  const wasInSync =
    wish !== undefined && isSame(life.told, life.live) && isAsAsked(life, wish) && life.vain === undefined
  changes(model, pipe, { topics: life.live.topics === 'by-hand' ? 'by-hand-2' : 'by-hand' })
  lives(pipe, { isDrift: life.isDrift || wasInSync, vain: undefined })
}

function stopByHand(model: Model, pipe: Pipe): void {
  // Nor can it be told from a stop that we are about to send, or that we do not know the outcome of.
  const isMarked = [...model.records.values()].some(
    ({ remote, command }) => remote?.id === pipe.id && command?.isForChange === true,
  )
  const isOurs = isMarked || pipe.life?.isOurs === true
  rests(model, pipe, isOurs ? 'either' : 'person', isOurs)
}

/** A pipe that a person makes in the console. @param isAlike whether it is as its manifest says */
export function makeByHand(model: Model, wish: Wish, isAlike: boolean): void {
  const values = { ...valuesOf(wish), password: model.password, ...(!isAlike && { topics: 'by-hand' }) }
  model.pipes.push({
    id: newId(model, 'pipe'),
    wish: undefined,
    intentId: undefined,
    serviceId: model.services[wish.service] ?? '',
    name: wish.platformName ?? wish.name,
    topics: values.topics,
    madeAt: model.now,
    view: 'seen',
    goneSince: undefined,
    isBeside: false,
    isTold: false,
    life: born(values),
  })
}

/** More that may change in a valid manifest. */
export function changingEdits(model: Model, { edits }: World): readonly Step[] {
  const steps: Step[] = []
  const may = (kind: EditKind) => edits.includes(kind)
  for (const [index, wish] of model.wishes.entries()) {
    const key = keyOfWish(wish)
    if (!wish.isPresent || wish.isFlawed === true) continue
    const add = (kind: EditKind, cost: number, line: string, to: Partial<Wish>): void => {
      if (!may(kind)) return
      const play = (run: Run): void => {
        tell(run, line)
        const changed = run.model.wishes[index]
        if (changed !== undefined) Object.assign(changed, to)
        edited(run.model)
      }
      steps.push({ name: line, cost, kind: 'edit', play })
    }
    const { brokers, replicas, table } = valuesOf(wish)
    const brokersNow = brokers === BROKER ? OTHER_BROKER : BROKER
    add('brokers', 1, `The manifest of ${key} asks for brokers "${brokersNow}" now.`, { brokers: brokersNow })
    const replicasNow = replicas === 1 ? 2 : 1
    add('replicas', 1, `The manifest of ${key} asks for replicas ${replicasNow} now.`, {
      replicas: replicasNow,
    })
    const tableNow = table === 'events' ? 'others' : 'events'
    add('table', 1, `The manifest of ${key} asks for table "${tableNow}" now.`, { table: tableNow })
    for (const { line, tables } of tableEdits(wish))
      add('tables', 1, `The manifest of ${key} ${line} now.`, { tables })
    for (const isPaused of [true, false, undefined])
      if (isPaused !== wish.isPaused)
        add('pause', 1, `policy.paused of ${key} is ${isPaused ?? 'taken out'} now.`, { isPaused })
    const { ensure, ...rest } = wish.policy
    const isAdded = ensure === undefined
    add('ensure', isAdded ? 1 : 0, `policy.ensure of ${key} is ${isAdded ? 'absent' : 'taken out'} now.`, {
      policy: isAdded ? { ...rest, ensure: 'absent' } : rest,
    })
    const { onDrift, ...others } = wish.policy
    const policy = onDrift === undefined ? { ...others, onDrift: 'correct' } : others
    add('correct', 1, `policy.onDrift of ${key} is ${onDrift === undefined ? 'correct' : 'report'} now.`, {
      policy,
    })
  }
  return steps
}

/** The second of its tables is taken out, put back, or copied in another way. */
function tableEdits({
  tables = [],
}: Wish): readonly { readonly line: string; readonly tables: readonly Table[] }[] {
  const [first, second] = tables
  if (first === undefined) return []
  if (second === undefined)
    return [{ line: 'asks for the second table', tables: [first, { name: 'second', how: 'plain' }] }]
  const how = second.how === 'plain' ? 'sorted' : 'plain'
  return [
    { line: 'asks for one table', tables: [first] },
    { line: `asks for a ${how} second table`, tables: [first, { ...second, how }] },
  ]
}
