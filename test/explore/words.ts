import type { ReconcileContext } from '../../src/reconcile/context.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import { undecidedIntent } from '../../src/plan/outcome-unknown.ts'
import { adoptAs } from '../../src/reconcile/operator/adopt.ts'
import { forgetKey } from '../../src/reconcile/operator/operate.ts'
import { approveRecreate, retryCreate } from '../../src/reconcile/operator/resolve.ts'
import type { OperatorResult } from '../../src/contract/person-command.ts'
import { LedgerError } from '../../src/contract/ledger.ts'
import { keyOfWish, shortId, type Model, type Pipe } from './model.ts'
import { createShell, processOf } from './process.ts'
import { tell, type Run, type Step } from './run.ts'
import { lookAt } from './look.ts'
import type { WordKind, World } from './worlds.ts'

const NEVER = new AbortController().signal

/**
 * What a person may say, who has looked in the console and tells the truth as it is at that moment: a pipe that is there is
 * adopted, and a create is retried when its pipe is not there.
 */
export function wordsOf(model: Model, { words }: World): readonly Step[] {
  const may = (kind: WordKind) => words.includes(kind)
  return [...model.records.values()].flatMap((record): readonly Step[] => {
    const { key, remote: pipe } = record
    const intent = undecidedIntent(record)
    const made = model.pipes.find(({ intentId }) => intentId !== undefined && intentId === intent?.id)
    const steps: Step[] = []
    if (intent !== undefined && made !== undefined) {
      if (may('adopt')) steps.push(adopt(key, made))
      if (may('adopt in Git')) steps.push(...inGit(model, key, 'adopt', made.id))
    } else if (intent !== undefined) {
      if (may('retry')) steps.push(retry(key, intent.id, false))
      if (may('force')) steps.push(retry(key, intent.id, true))
      if (may('retry in Git')) steps.push(...inGit(model, key, 'retryCreate', intent.id))
    }
    if (pipe !== undefined) {
      if (may('recreate')) steps.push(recreate(key, pipe.id))
      if (may('recreate in Git')) steps.push(...inGit(model, key, 'recreate', pipe.id))
    }
    const standing = model.wishes.find((wish) => wish.isPresent && keyOfWish(wish) === key)?.policy['adopt']
    if (standing !== undefined && intent === undefined) steps.push(...inGit(model, key, 'adopt', standing))
    if (may('forget') && !isAskedFor(model, key)) steps.push(forget(record))
    return steps
  })
}

function isAskedFor({ wishes }: Model, key: Key): boolean {
  return wishes.some((wish) => wish.isPresent && keyOfWish(wish) === key)
}

function adopt(key: Key, { id }: Pipe): Step {
  const command = `resolve ${key} --adopt (pipe ${shortId(id)})`
  return said(
    command,
    0,
    (run, context) => {
      run.model.saidPipe.add(id)
      return adoptAs(context, { key, pipeId: id, command: 'resolve' }, NEVER)
    },
    undefined,
  )
}

function retry(key: Key, intentId: string, force: boolean): Step {
  const command = `resolve ${key} --retry${force ? ' --force' : ''}`
  return said(
    command,
    force ? 1 : 0,
    (run, context) => {
      run.model.saidRetry.add(intentId)
      return retryCreate(context, key, { force })
    },
    (run) => {
      allow(run.model, key, undefined)
      // A process that stands still before its request is kept from sending it.
      const isKept = run.model.pods !== undefined && !run.model.sent.has(intentId)
      if (force && !isKept) run.model.hands.add(intentId)
    },
  )
}

function recreate(key: Key, pipeId: string): Step {
  return said(
    `resolve ${key} --recreate`,
    1,
    (_, context) => approveRecreate(context, key, NEVER),
    (run) => {
      allow(run.model, key, pipeId)
    },
  )
}

function forget({ key, remote: pipe, former, intent }: LedgerRecord): Step {
  return said(
    `forget ${key}`,
    1,
    (_, context) => forgetKey(context, key),
    (run) => {
      for (const id of [pipe?.id, former?.remote.id, intent?.id])
        if (id !== undefined) run.model.hands.add(id)
    },
  )
}

/** A person wants a new pipe, however recently one was replaced. @param gone the pipe that is gone, as they say */
function allow(model: Model, key: Key, gone: string | undefined): void {
  if (gone !== undefined) model.saidGone.add(gone)
  delete model.replacedAt[model.wishes.findIndex((wish) => keyOfWish(wish) === key)]
}

/** A command at the shell. */
function said(
  command: string,
  cost: number,
  say: (run: Run, context: ReconcileContext) => Promise<OperatorResult>,
  done: ((run: Run) => void) | undefined,
): Step {
  return {
    name: command,
    cost,
    kind: 'shell',
    async play(run) {
      let result: string
      try {
        result = (await say(run, await createShell(run))).result
      } catch (error) {
        if (!(error instanceof LedgerError)) throw error
        result = 'failed'
      }
      tell(run, `A person runs "${command}": ${result}.`)
      if (result === 'done') done?.(run)
    },
  }
}

/** A line under `policy`, written or taken out. Who writes it has just looked, and Pipewright reads it at once. */
function inGit(
  model: Model,
  key: Key,
  field: 'adopt' | 'retryCreate' | 'recreate',
  id: string,
): readonly Step[] {
  const index = model.wishes.findIndex((wish) => wish.isPresent && keyOfWish(wish) === key)
  const wish = model.wishes[index]
  if (wish === undefined) return []
  const { [field]: standing, ...others } = wish.policy
  const isThere = standing === id
  const policy = isThere ? others : { ...others, [field]: id }
  const line = `policy.${field} of ${key} is ${isThere ? 'taken out' : 'written'}`
  return [
    {
      name: line,
      cost: isThere ? 0 : 1,
      kind: 'edit',
      key,
      async play(run) {
        tell(run, `${line} (${shortId(id)}).`)
        const changed = run.model.wishes[index]
        if (changed !== undefined) changed.policy = policy
        if (field === 'adopt') run.model.saidPipe.add(id)
        if (field === 'retryCreate') run.model.saidRetry.add(id)
        if (!isThere && field !== 'adopt') allow(run.model, key, field === 'recreate' ? id : undefined)
        processOf(run)
        for (const each of run.processes) each.read()
        await lookAt(run, key)
      },
    },
  ]
}
