import { editsOf } from './edits.ts'
import { passTime } from './hiding.ts'
import { keysOf, type Model } from './model.ts'
import { isKeptFromSending } from './pod-laws.ts'
import { leaseIn } from './pod-ledger.ts'
import { podOf } from './pod.ts'
import {
  atRevision,
  holderIn,
  LEASE_MS,
  manifestsOf,
  NAMES,
  nameOf,
  podAt,
  podsOf,
  SILENCE_MS,
  type Pod,
} from './pods.ts'
import { choose, tell, type Process, type Run, type Step, type Waiting } from './run.ts'
import { wordsOf } from './words.ts'
import type { World } from './worlds.ts'

/** What the two processes may do next, and what may befall them. */
export function podSteps(model: Model, world: World): readonly Step[] {
  const { late, git } = podsOf(model)
  const steps: Step[] = []
  const add = (name: string, cost: number, kind: Step['kind'], play: Step['play']): void => {
    steps.push({ name, cost, kind, play })
  }
  for (const [index, name] of NAMES.entries()) {
    const pod = podAt(model, index)
    if (pod.checkout < git.length - 1)
      add(`${name} reads Git`, 0, 'edit', (run) => {
        tell(run, `Process ${name} reads Git.`)
        return readGit(run, index)
      })
    if (pod.acts === undefined) {
      if (mayTakeOver(model, pod))
        add(`${name} takes over`, 0, 'look', async (run) => (await podOf(run, index)).takeOver())
      continue
    }
    for (const key of keysOf(atRevision(model, pod.checkout)))
      add(`${name} looks at ${key}`, 0, 'look', async (run) => (await podOf(run, index)).look(key))
    add(`${name} is silent`, 1, 'time', (run) => {
      tell(run, `Process ${name} stands still for ${SILENCE_MS} ms.`)
      return passLease(run, index)
    })
    if (world.crashes)
      add(`${name} is killed`, 1, 'crash', async (run) => {
        tell(run, `Process ${name} is killed, and started again.`)
        void (await podOf(run, index)).die()
      })
    if (world.faults.includes('stops'))
      add(`${name} is stopped`, 1, 'crash', async (run) => {
        tell(run, `Process ${name} is told to stop, and is started again.`)
        await (await podOf(run, index)).stop()
      })
  }
  add('time', 0, 'time', (run) => {
    tell(run, `${SILENCE_MS} ms pass.`)
    return passLease(run, undefined)
  })
  for (const [place, { origins }] of late.entries())
    add(`late ${place}`, 0, 'platform', (run) => {
      tell(run, `The upsert with allowedOrigins "${origins}" arrives.`)
      const pods = podsOf(run.model)
      pods.late = pods.late.toSpliced(place, 1)
      pods.applied = origins
    })
  return [...steps, ...editsOf(model, world).map(committed), ...wordsOf(model, world)]
}

/** An edit, which no process has read yet. */
function committed(step: Step): Step {
  return {
    ...step,
    async play(run) {
      await step.play(run)
      podsOf(run.model).git.push(manifestsOf(run.model))
    },
  }
}

async function readGit(run: Run, index: number): Promise<void> {
  await (await podOf(run, index)).readGit()
}

/** Whether the Lease is free, as far as a process has seen. */
function mayTakeOver(model: Model, { lease, leaseSince, behindMs }: Pod): boolean {
  const now = leaseIn({ model })
  if (now === undefined || holderIn(now) === '') return true
  const isSeen = lease?.metadata.resourceVersion === now.metadata.resourceVersion
  return isSeen && model.now - behindMs - leaseSince >= LEASE_MS
}

/** Longer than a Lease lasts goes by. @param silent a process of which nothing is heard meanwhile */
async function passLease(run: Run, silent: number | undefined): Promise<void> {
  await noteLeases(run, (index) => podAt(run.model, index).acts === undefined)
  timeGoesBy(run.model)
  await noteLeases(run, (index) => podAt(run.model, index).acts !== undefined && index !== silent)
  await noteLeases(run, (index) => podAt(run.model, index).acts === undefined)
}

function timeGoesBy(model: Model): void {
  passTime(model, SILENCE_MS)
  const pods = podsOf(model)
  pods.late = pods.late.filter(({ before }) => model.now < before)
}

async function noteLeases(run: Run, of: (index: number) => boolean): Promise<void> {
  for (const index of NAMES.keys()) if (of(index)) await (await podOf(run, index)).noteLease()
}

/** A process may stand still, for so long that another one takes over, and goes on then; or that one stands still, too, and this one goes on first. */
export async function standStill(run: Run, process: Process, when: string, _waiting: Waiting): Promise<void> {
  const { pod: index } = process
  if (index === undefined || run.meanwhile <= 0 || process.isDead) return
  const [name, otherIndex] = [nameOf(index), 1 - index]
  if (run.waiting.has(otherIndex)) return
  const wake = run.standing.get(otherIndex)
  const isTaken = run.pods.get(otherIndex)?.isActing ?? podAt(run.model, otherIndex).acts !== undefined
  const taken = choose(run, [
    { name: 'goes on', cost: 0 },
    { name: 'stands still', cost: 1 },
    !isTaken && wake === undefined && { name: 'stands still, and its clock', cost: 1 },
  ])
  if (taken === 'goes on') return
  run.meanwhile -= 1
  run.hadMeanwhile = true
  tell(run, `  Process ${name} ${taken}, ${when}:`)
  if (wake === undefined) {
    const { promise: woken, resolve } = Promise.withResolvers<void>()
    run.standing.set(index, resolve)
    const others = othersGoOn(run, index, { isTaken, isBehind: taken !== 'stands still' })
    run.beside.push(others)
    await Promise.race([others, woken])
    run.standing.delete(index)
  } else {
    const other = await podOf(run, otherIndex)
    run.waiting.add(index)
    wake()
    await other.ended
    run.waiting.delete(index)
  }
  tell(run, `  Process ${name} goes on.`)
}

interface Standing {
  readonly isTaken: boolean
  readonly isBehind: boolean
}

/** What happens while one process stands still. */
async function othersGoOn(run: Run, index: number, { isTaken, isBehind }: Standing): Promise<void> {
  const otherIndex = 1 - index
  const other = await podOf(run, otherIndex)
  if (!isTaken) {
    await other.noteLease()
    timeGoesBy(run.model)
    const pods = podsOf(run.model)
    const pod = podAt(run.model, index)
    if (isBehind) pods.all[index] = { ...pod, behindMs: pod.behindMs + SILENCE_MS }
    await other.takeOver()
  }
  await (await podOf(run, otherIndex)).lookAtAll()
  while (run.meanwhile > 0 && run.standing.has(index)) {
    const { model, world } = run
    const isOlder = podAt(model, otherIndex).checkout < podsOf(model).git.length - 1
    const words = isKeptFromSending(model, index) ? wordsOf(model, world) : []
    const taken = choose(run, [
      { name: 'it goes on', cost: 0 },
      isOlder && { name: 'the other one reads Git', cost: 0 },
      ...words.map(({ name, cost }) => ({ name, cost })),
    ])
    if (taken === 'it goes on') return
    run.meanwhile -= 1
    if (taken === 'the other one reads Git') await readGit(run, otherIndex)
    else await words.find(({ name }) => name === taken)?.play(run)
    const told = await podOf(run, otherIndex)
    if (told.isActing) await told.hear()
    await told.lookAtAll()
  }
}
