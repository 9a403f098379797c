import { undecidedIntent } from '../../src/plan/outcome-unknown.ts'
import type { ReconcileResult } from '../../src/reconcile/context.ts'
import type { ServiceAccess } from '../../src/contract/platform.ts'
import { sameId } from '../../src/lib/same-id.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import type { Reason } from '../../src/plan/reason.ts'
import { heldTwice, judgeRecord, judgeSeen, judgeSend, judgeWrite, type Written } from '../support/oracle.ts'
import {
  isVisible,
  keyOfWish,
  shortId,
  unsavedIn,
  MINUTE,
  type Model,
  type Pipe,
  type Wish,
} from './model.ts'
import { isRemoved } from './removal-laws.ts'
import { isAloneAsAsked } from './change-laws.ts'
import { settle, type Run } from './run.ts'

/* What may never be, whatever happens. */

/** The ledger was written. @param isForgetSaid whether it is a person who forgets what is left */
export function judgeWritten(run: Run, written: Written, isForgetSaid = false): void {
  const { model, broken, writes } = run
  writes.push(written)
  broken.push(
    ...judgeWrite(written, {
      sent: (intentId) => model.sent.get(intentId),
      isRetrySaid: (intentId) => model.saidRetry.has(intentId),
      isPipeSaid: (pipeId) => model.saidPipe.has(pipeId) || isAloneAsAsked(run, pipeId),
      isForgetSaid: () => isForgetSaid,
      isRemoved: (pipeId) => isRemoved(model, pipeId),
    }),
  )
}

export function wishOf(model: Model, intentId: string): number | undefined {
  const record = recordOf(model, { intentId })
  const git = [model, ...(model.pods?.git.toReversed() ?? [])]
  for (const { wishes } of git) {
    const wish = wishes.findIndex((each) => record !== undefined && keyOfWish(each) === record.key)
    if (wish !== -1) return wish
  }
  return undefined
}

/** A create is about to go out: the manifests of this moment have to ask for it. */
export function judgeCreate(run: Run, service: ServiceAccess, text: string, pipe: Pipe): void {
  const { model } = run
  const { intentId = '' } = pipe
  const isOpen = recordOf(model, pipe)?.intent?.state === 'open'
  run.broken.push(...judgeSend(intentId, { isOpen, isRepeated: model.sent.has(intentId) }))
  const wish = model.wishes[pipe.wish ?? -1]
  const fault = wish === undefined ? 'no manifest asks for' : faultOf(model, wish, service, text)
  if (fault !== undefined) run.broken.push(`A create goes out that ${fault}.`)
  const former = formerOf(model, pipe)
  if (former === undefined || pipe.wish === undefined) return
  const last = model.replacedAt[pipe.wish]
  const isSaid = model.saidGone.has(former)
  if (isSaid) model.hands.add(former)
  else if (last !== undefined && model.now - last < 60 * MINUTE && !model.deleted.has(former))
    run.broken.push(`The pipe of ${keyOfWish(wish ?? { name: '?' })} is replaced twice within an hour.`)
}

export function recordOf(model: Model, { intentId }: Pick<Pipe, 'intentId'>): LedgerRecord | undefined {
  return [...model.records.values()].find(({ intent }) => intent?.id === intentId)
}

function formerOf(model: Model, pipe: Pipe): string | undefined {
  return recordOf(model, pipe)?.former?.remote.id
}

function faultOf(model: Model, wish: Wish, service: ServiceAccess, text: string): string | undefined {
  const body = JSON.parse(text) as {
    name: string
    source: { kafka: { topics: string; credentials: { password: string } } }
  } // ours
  const { kafka } = body.source
  const locked = model.isLockBroken ? undefined : model.lock[keyOfWish(wish)]
  const record = model.records.get(keyOfWish(wish))
  if (!wish.isPresent) return 'no manifest asks for any more'
  if (wish.isSuspended) return 'its manifest says to leave alone'
  if (wish.isFlawed === true) return 'is for a manifest that has errors'
  if (model.isServiceFlawed) return 'is for a service whose manifest has errors'
  if (!sameId(model.services[wish.service], service.serviceId))
    return 'is for another service than the manifests say'
  if (body.name !== (wish.platformName ?? wish.name)) return 'has another name than the manifest says'
  if (kafka.topics !== wish.topics) return 'asks for other topics than the manifest'
  if (kafka.credentials.password !== model.password) return 'holds an old password'
  if (locked !== undefined && !sameId(locked, record?.former?.remote.id))
    return 'a Lock gives another pipe to'
  const { adopt } = wish.policy
  // What was deleted because its manifest asked for that is gone for good.
  const isDeleted = adopt !== undefined && isRemoved(model, adopt)
  if (adopt !== undefined && !isDeleted && !sameId(adopt, record?.former?.remote.id))
    return 'policy.adopt gives another pipe to'
  return undefined
}

/** One pipe more: it has to be the only one of its wish, unless a person forced it. */
function judgePipe(run: Run, pipe: Pipe): void {
  const { model } = run
  const { name, wish } = pipe
  if (wish === undefined) return
  const pipes = [...model.pipes, pipe]
    .filter((other) => other.wish === wish && !isInHands(model, other))
    .map(({ id }) => shortId(id))
  const seen = { name, pipes, known: pipes, recorded: undefined, isUnknown: false }
  if (!isInHands(model, pipe)) run.broken.push(...judgeSeen(seen).map(({ what }) => what))
  const former = formerOf(model, pipe)
  if (former !== undefined && !model.hands.has(former)) model.replacedAt[wish] = model.now
}

/** A create has worked: there is one pipe more. */
export function made(run: Run, pipe: Pipe): void {
  judgePipe(run, pipe)
  run.model.pipes.push({ ...pipe })
  settle(run)
}

function isInHands({ hands }: Model, { id, intentId }: Pipe): boolean {
  return hands.has(id) || (intentId !== undefined && hands.has(intentId))
}

/** Between two steps: each pipe that Pipewright made is somewhere. */
export function judgeKept(run: Run): void {
  const { model } = run
  for (const record of model.records.values()) run.broken.push(...judgeRecord(record))
  if (!model.hasSecond) run.broken.push(...heldTwice(model.records.values()))
  const held = new Set([...model.records.values()].map(({ remote }) => remote?.id))
  for (const pipe of model.pipes) {
    if (held.has(pipe.id)) delete pipe.isListed
    if (pipe.isTold) judgeTold(run, pipe)
    if (pipe.intentId === undefined || isInHands(model, pipe) || isKept(model, pipe)) continue
    run.broken.push(`Pipe ${shortId(pipe.id)} is lost: no record holds it, and no intent is open or unknown.`)
  }
}

/** An id that a living process was told is in the ledger, or in its memory until it can be. */
function judgeTold({ model, broken }: Run, pipe: Pipe): void {
  pipe.isTold = ![...model.records.values()].some((record) => record.remote?.id === pipe.id)
  const isRemembered = unsavedIn(model).some(
    ([, { end }]) => end.type === 'created' && end.remote.id === pipe.id,
  )
  if (pipe.isTold && !isRemembered && !isInHands(model, pipe))
    broken.push(`Pipewright was told the id of pipe ${shortId(pipe.id)}, and has forgotten it.`)
}

function isKept(model: Model, { id, intentId, isListed }: Pipe): boolean {
  for (const record of model.records.values()) {
    if (record.remote?.id === id || record.former?.remote.id === id) return true
    if (undecidedIntent(record)?.id === intentId) return true
  }
  if (isListed === true) return true
  // What a Lock names is taken over, whatever the ledger says.
  if (Object.values(model.lock).includes(id)) return true
  return unsavedIn(model).some(([, { intentId: of }]) => of === intentId)
}

const CALLED_MISSING: ReadonlySet<Reason> = new Set([
  'Missing',
  'MassMissing',
  'MissingUnconfirmed',
  'NeverSeen',
])

/** The pipe of a key, if it can be read before a look. */
export function seenBefore(model: Model, key: Key): Pipe | undefined {
  const id = model.records.get(key)?.remote?.id
  return model.pipes.find((pipe) => !model.isIdle && pipe.id === id && isVisible(model, pipe))
}

/** What a look came to, when nothing else happened meanwhile. @param seen as of {@link seenBefore} */
export function judgeLook(run: Run, key: Key, seen: Pipe | undefined, { action }: ReconcileResult): void {
  if (run.hadMeanwhile || seen === undefined || !CALLED_MISSING.has(action.reason)) return
  run.broken.push(`${key} is called ${action.reason}, and pipe ${shortId(seen.id)} exists and can be read.`)
}

/** An upsert goes out: it has to be what the manifest of this moment asks for. */
export function judgeUpsert(run: Run, service: ServiceAccess, text: string): void {
  const { endpoint, services, isServiceFlawed } = run.model
  const body = JSON.parse(text) as { allowedOrigins: string } // ours
  const fault =
    endpoint?.isPresent !== true
      ? 'no manifest asks for any more'
      : endpoint.isSuspended
        ? 'its manifest says to leave alone'
        : isServiceFlawed
          ? 'is for a service whose manifest has errors'
          : !sameId(services['one'], service.serviceId)
            ? 'is for another service than the manifests say'
            : body.allowedOrigins === endpoint.origins
              ? undefined
              : `holds allowedOrigins "${body.allowedOrigins}", and the manifest says "${endpoint.origins}"`
  if (fault !== undefined) run.broken.push(`An upsert goes out that ${fault}.`)
}
