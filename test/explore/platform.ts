import { PIPE_FIELDS } from '../../src/kinds/profiles/default/pipe/schema.ts'
import type { CreateOnceKind } from '../../src/kinds/definition.ts'
import { comparedBody, type RemoteResource } from '../../src/kinds/remote-resource.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type {
  CreatePermit,
  CreateRequest,
  Platform,
  ReadTarget,
  Reply,
  ServiceAccess,
} from '../../src/contract/platform.ts'
import { pipeBodyOf } from '../reconcile/manifests.ts'
import type { Sent } from '../support/oracle.ts'
import { CHANGES_NOTHING, looksOf, permitOf, remoteError, replyOf } from '../reconcile/model-platform.ts'
import { judgeCreate, made, recordOf, wishOf } from './laws.ts'
import { BEGIN, MINUTE, isVisible, newId, shortId, type Pipe } from './model.ts'
import { judgeBeside } from './change-laws.ts'
import { asBefore, changingPlatform } from './changing-platform.ts'
import { bodyOfValues, born, lives, shownBefore, told, valuesOf } from './life.ts'
import { NO_CHOICE } from './ledger.ts'
import { judgeSent } from './pod-laws.ts'
import { judgeListed } from './list-laws.ts'
import { removePipe } from './change-requests.ts'
import { choose, settle, forever, tell, type Process, type Run } from './run.ts'
import { upserting, type Sending } from './upserting.ts'
import { REPLIES } from './worlds.ts'

/** The platform of a model, behind the port of a reconcile: what it answers, and when, is a choice wherever it may be. */
export function createPlatform(
  run: Run,
  process: Process | typeof NO_CHOICE,
  sending: Sending = { fence: async () => Infinity, now: () => run.model.now },
): Platform {
  const { model } = run
  const isDead = () => process !== NO_CHOICE && process.isDead
  const looksAt = (service: ServiceAccess) => looksOf({ read, list: more.list }, service)
  const note = (line: string) => process === NO_CHOICE || tell(run, line)

  async function read({ service, id: pipeId }: ReadTarget): Promise<Reply<RemoteResource>> {
    if (isDead()) return forever()
    const pipe = model.pipes.find(({ id, serviceId }) => id === pipeId && serviceId === service?.serviceId)
    if (model.isIdle) {
      note(`  It asks for pipe ${shortId(pipeId)}: 424.`)
      throw remoteError('ServiceIdle', 'none')
    }
    if (pipe?.view === 'unreadable' && model.isPermitted) {
      note(`  It asks for pipe ${shortId(pipeId)}, and a gateway answers 503.`)
      throw remoteError('Unavailable', 'none')
    }
    if (pipe === undefined || !isVisible(model, pipe)) {
      note(`  It asks for pipe ${shortId(pipeId)}: 404${pipe === undefined ? '' : ', though it exists'}.`)
      throw remoteError('Missing', 'none')
    }
    const isStale = process !== NO_CHOICE && isShownStale(pipe)
    note(`  It asks for pipe ${shortId(pipeId)}: 200${isStale ? ', as it was before' : ''}.`)
    model.saidGone.delete(pipeId)
    const seen = isStale ? asBefore(run, pipe) : pipe
    if (seen.life !== undefined) told(pipe, seen.life.live)
    // Whoever reads what was there before cannot know that it was in vain.
    if (isStale) lives(pipe, { vain: undefined })
    return replyOf(shown(seen))
  }

  function isShownStale(pipe: Pipe): boolean {
    if (!run.world.faults.includes('stale') || shownBefore(model, pipe) === undefined) return false
    const options = [
      { name: 'as it is', cost: 0 },
      { name: 'as it was', cost: 1 },
    ] as const
    return choose(run, options) === 'as it was'
  }

  async function admitCreate(_kind: CreateOnceKind, service: ServiceAccess): Promise<CreatePermit> {
    if (isDead()) return forever()
    if (process === NO_CHOICE) throw new Error('nobody creates at the shell')
    await run.passMeanwhile(run, process, 'while its create waits for the budget', 'permit')
    if (isDead()) return forever()
    return permitOf(service, looksAt(service), (request) => send(process, service, request))
  }

  async function send(
    sender: Process,
    service: ServiceAccess,
    request: CreateRequest,
  ): Promise<Reply<RemoteResource>> {
    if (isDead()) return forever()
    const body = JSON.parse(request.body) as { name: string; source: { kafka: { topics: string } } } // ours
    const { intentId, notAfter } = request
    const pipe = created(service.serviceId, body.name, body.source.kafka.topics, intentId)
    const wish = model.wishes[pipe.wish ?? -1]
    if (run.world.profile !== undefined && wish !== undefined)
      pipe.life = born({ ...valuesOf(wish), password: model.password })
    const fenced = Math.min(notAfter, await sending.fence())
    if (isDead()) return forever()
    judgeBeside(run, pipe)
    judgeListed(run, sender, { serviceId: service.serviceId, text: request.body, intentId })
    if (model.pods === undefined) judgeCreate(run, service, request.body, pipe)
    if (run.world.standsStill) {
      await run.passMeanwhile(run, sender, 'while it stands still before its POST', 'standstill')
      if (isDead()) return forever()
    }
    // As the platform client does it: the last thing before the bytes.
    if (sending.now() > fenced) {
      tell(run, '  It is too late for its POST, and nothing is sent.')
      throw remoteError('Unavailable', 'none')
    }
    if (model.pods !== undefined)
      judgeSent(run, sender, (acting) => judgeCreate(acting, service, request.body, pipe))
    return answer(sender, pipe)
  }

  async function answer(sender: Process, pipe: Pipe): Promise<Reply<RemoteResource>> {
    const what = `  It POSTs "${pipe.name}" (intent ${shortId(pipe.intentId ?? '')})`
    const is = (effect: Sent['effect'], pipeId?: string) =>
      model.sent.set(pipe.intentId ?? '', { effect, pipeId })
    is('none')
    if (model.isIdle) {
      tell(run, `${what}: 424.`)
      throw remoteError('ServiceIdle', 'none')
    }
    if (!model.isPermitted) {
      tell(run, `${what}: 403.`)
      throw remoteError('AuthFailed', 'none')
    }
    // One that no record holds cannot be told from the pipe that was made.
    const held = new Set([...model.records.values()].map((record) => record.remote?.id))
    const another = model.pipes.find(({ id, wish }) => held.has(id) && wish !== pipe.wish)
    const reply = choose(run, repliesOf(run, another !== undefined))
    const sendBy = (recordOf(model, pipe)?.intent?.sendBy ?? 0) - BEGIN
    if (reply === 'refused') {
      tell(run, `${what}: 400.`)
      throw remoteError('Rejected', 'none')
    }
    if (reply === 'throttled') {
      tell(run, `${what}: 429.`)
      throw remoteError('Throttled', 'none')
    }
    if (reply === 'refused after the work') {
      tell(run, `${what}: pipe ${shortId(pipe.id)} is made, and the answer is 409.`)
      model.pipes.push({ ...pipe, wish: undefined, intentId: undefined, isDenied: true })
      settle(run)
      throw remoteError('Rejected', 'none')
    }
    is('unknown')
    if (reply === 'lost') {
      tell(run, `${what}; it never arrives, and no reply comes.`)
      throw remoteError('Unavailable', 'unknown')
    }
    if (reply === 'late' || reply === 'dies, late') {
      const before = sendBy + (reply === 'late' ? 2 : 15) * MINUTE
      is('unknown', pipe.id)
      model.late.push({ pipe, before })
      tell(
        run,
        `${what}; it is still on its way, and ${reply === 'late' ? 'no reply comes' : 'it is killed'}.`,
      )
      if (reply === 'dies, late') return sender.die()
      throw remoteError('Unavailable', 'unknown')
    }
    if (reply === 'dies, lost') {
      tell(run, `${what}; it never arrives, and Pipewright is killed.`)
      return sender.die()
    }
    is('unknown', pipe.id)
    made(run, { ...pipe, view: reply === 'never shown' ? 'never' : pipe.view })
    if (reply === 'dies, worked') {
      tell(run, `${what}: pipe ${shortId(pipe.id)} is made, and Pipewright is killed before the reply.`)
      return sender.die()
    }
    if (reply === 'lost after the work') {
      tell(run, `${what}: pipe ${shortId(pipe.id)} is made, and no reply comes.`)
      throw remoteError('Unavailable', 'unknown')
    }
    if (reply === 'cut, with its id') {
      tell(run, `${what}: pipe ${shortId(pipe.id)} is made, and its id stands in a reply that is cut.`)
      throw remoteError('BadReply', 'unknown', pipe.id)
    }
    const shownAs = reply === 'never shown' ? ', which no GET finds yet' : ''
    tell(run, `${what}: 200, pipe ${shortId(pipe.id)}${shownAs}.`)
    settle(run)
    const before = run.lines.length
    await run.passMeanwhile(run, sender, 'while the reply is on its way', 'reply')
    if (isDead()) return forever()
    if (run.lines.length > before) tell(run, '  The reply comes.')
    const answered = model.pipes.find(({ id }) => id === pipe.id)
    const isOther = reply === "another's id" && another !== undefined
    if (answered !== undefined) answered.isTold = !isOther && !sender.isSecond
    if (answered?.life !== undefined && !isOther) {
      told(answered, answered.life.live)
      const { password } = answered.life.live
      lives(answered, { confirmed: password === undefined ? undefined : { password, isKept: false } })
    }
    // An id that is not believed is no answer.
    if (!isOther) is('done', pipe.id)
    if (isOther) tell(run, `  The reply holds the id of pipe ${shortId(another.id)} instead.`)
    return replyOf(shown({ ...pipe, id: isOther ? another.id : pipe.id }))
  }

  function created(serviceId: string, name: string, topics: string, intentId: string): Pipe {
    return {
      id: newId(model, 'pipe'),
      wish: wishOf(model, intentId),
      intentId,
      serviceId,
      name,
      topics,
      madeAt: model.now,
      view: 'seen',
      goneSince: undefined,
      isBeside: false,
      isTold: false,
    }
  }

  const more: Pick<Platform, 'list' | 'change' | 'remove'> =
    run.world.profile === undefined || process === NO_CHOICE
      ? { ...CHANGES_NOTHING, list: () => Promise.reject(new Error('this platform has no list')) }
      : {
          ...changingPlatform(run, process, { show: shown, looksAt }),
          remove: ({ id, service }, check) => removePipe(run, process, id, () => check(looksAt(service))),
        }
  const upsert = upserting(run, process, { sending, looksAt })
  return { read, admitCreate, upsert, ...more }
}

function repliesOf({ world }: Run, hasAnother: boolean) {
  return REPLIES.filter((name) => name === 'created' || world.replies.includes(name))
    .filter((name) => name !== "another's id" || hasAnother)
    .map((name) => ({ name, cost: name === 'created' ? 0 : 1 }))
}

const bodies = new Map<string, JsonObject>()

function shown({ id, serviceId, name, topics, madeAt, isChanged, life }: Pipe): RemoteResource {
  const known = life === undefined ? `${name} ${topics}` : `${name} ${JSON.stringify(life.live)}`
  const asked = life === undefined ? pipeBodyOf(name, { topics }) : bodyOfValues(name, life.live)
  const body = bodies.get(known) ?? { ...asked, ...comparedBody(PIPE_FIELDS, { name, ...asked }) }
  bodies.set(known, body)
  const scaling = isChanged === true ? { scaling: { replicas: 9 } } : {}
  return {
    state: life?.live.state ?? 'Running',
    ...body,
    ...scaling,
    id,
    serviceId,
    createdAt: new Date(BEGIN + madeAt).toISOString(),
  }
}
