import type { ChangeTarget, Looks, Platform, Reply, ServiceAccess } from '../../src/contract/platform.ts'
import type { RemoteResource } from '../../src/kinds/remote-resource.ts'
import { sameId } from '../../src/lib/same-id.ts'
import { remoteError, replyOf } from '../reconcile/model-platform.ts'
import { chooseEnd, isEffective, sendChange } from './change-requests.ts'
import { isInForce, judgeChange, noteListed } from './change-laws.ts'
import {
  changes,
  isDoneAtRest,
  LAG_MS,
  lives,
  rests,
  shownBefore,
  told,
  valuesIn,
  wishOfPipe,
  withAsked,
  type Life,
} from './life.ts'
import { isVisible, shortId, type Pipe } from './model.ts'
import { choose, forever, tell, type Process, type Run } from './run.ts'

/* What a service that lists, changes, starts and stops pipes answers. */

/** What may become of a change, besides that it is done and answered. */
export const CHANGE_REPLIES = ['not applied', 'lost', 'fails', 'fails for good', 'refused'] as const
export type ChangeReply = (typeof CHANGE_REPLIES)[number]

/** @param show makes a reply of a pipe */
export function changingPlatform(
  run: Run,
  process: Process,
  {
    show,
    looksAt,
  }: { readonly show: (pipe: Pipe) => RemoteResource; readonly looksAt: (service: ServiceAccess) => Looks },
): Pick<Platform, 'list' | 'change'> {
  const { model, world } = run

  async function list(_: unknown, { serviceId }: ServiceAccess): Promise<Reply<readonly RemoteResource[]>> {
    if (process.isDead) return forever()
    const what = '  It asks for a list of all pipes'
    if (model.isIdle || !model.isPermitted) {
      tell(run, `${what}: ${model.isIdle ? 424 : 403}.`)
      throw remoteError(model.isIdle ? 'ServiceIdle' : 'AuthFailed', 'none')
    }
    const there = model.pipes.filter((pipe) => sameId(pipe.serviceId, serviceId) && isVisible(model, pipe))
    const ghosts = model.ghosts.filter((pipe) => sameId(pipe.serviceId, serviceId))
    const isNew = (pipe: Pipe) => model.now - pipe.madeAt < LAG_MS
    const mayLag = world.faults.includes('list lags')
    const taken = choose(run, [
      { name: 'as it is', cost: 0 },
      mayLag && there.some(isNew) && { name: 'without what is new', cost: 1 },
      mayLag && there.some((pipe) => shownBefore(model, pipe)) && { name: 'as it was before', cost: 1 },
      mayLag && ghosts.length > 0 && { name: 'with what is gone', cost: 1 },
      world.faults.includes('list fails') && { name: 'fails', cost: 1 },
    ])
    if (taken === 'fails') {
      tell(run, `${what}: 503.`)
      throw remoteError('Unavailable', 'none')
    }
    const listed = [...there, ...(taken === 'with what is gone' ? ghosts : [])]
      .filter((pipe) => taken !== 'without what is new' || !isNew(pipe))
      .map((pipe) => (taken === 'as it was before' ? asBefore(run, pipe) : pipe))
    const ids = listed.map(({ id }) => shortId(id)).join(', ')
    tell(run, `${what} (${taken}): ${ids === '' ? 'there is none' : ids}.`)
    for (const { id, life } of listed) {
      const pipe = model.pipes.find((each) => each.id === id)
      if (pipe !== undefined && life !== undefined) told(pipe, life.live)
    }
    noteListed(run, listed)
    const value = listed.map(show)
    run.lists.set(process, new Map([...(run.lists.get(process) ?? []), [serviceId, value]]))
    return replyOf(value)
  }

  function change(
    { way, id, service, isRepeatable }: ChangeTarget,
    makeBody: (looks: Looks) => Promise<string>,
  ): Promise<Reply<unknown>> {
    let text = ''
    return sendChange(run, process, {
      id,
      noun: 'change',
      isRepeatable,
      async prepare() {
        text = await makeBody(looksAt(service))
        return `  It sends pipe ${shortId(id)} a change (${way}) of ${text}`
      },
      arrive(pipe) {
        judgeChange(run, pipe, { way, text })
        return become(pipe, way, text)
      },
    })
  }

  function become(pipe: Pipe, way: ChangeTarget['way'], text: string) {
    const { life } = pipe
    if (life === undefined) throw new Error(`pipe ${pipe.id} cannot be changed`)
    const asked = valuesIn(text)
    const isResting = life.live.state === 'Stopped'
    if (way === 'update' && isDoneAtRest(asked) && !isResting) return 'must be paused'
    // Of what a manifest does not ask for any more, nothing is read that would show it.
    const isLeft = way === 'state' && !isInForce(model, pipe)
    const faults = CHANGE_REPLIES.filter(
      (name) => world.changeReplies?.includes(name) && !(isLeft && name === 'not applied'),
    )
    const end = chooseEnd(run, faults)
    if (asked.tablesToAdd !== undefined || asked.tablesToRemove !== undefined) lives(pipe, { isUnread: true })
    if (isEffective(end) && way === 'state') setState(pipe, life, text)
    if (isEffective(end) && way !== 'state') {
      // The service starts what it changes, but for what it changes only at rest.
      const starts = way === 'update' && !isDoneAtRest(asked) && life.live.state !== 'Running'
      changes(model, pipe, { ...withAsked(life.live, asked), ...(starts && { state: 'Running' }) })
      if (starts) lives(pipe, { rest: undefined, isOurs: false })
    }
    if ((end === 'answered' || end === 'not applied') && asked.password !== undefined)
      lives(pipe, { confirmed: { password: asked.password, isKept: false } })
    if (
      way !== 'state' &&
      !isFollowed(pipe, asked) &&
      (end === 'not applied' || (end === 'refused' && life.rest === 'us'))
    )
      lives(pipe, { vain: { what: `${way} ${text}`, at: model.now, isKept: false } })
    return end
  }

  /** Of a table that is removed to be added again the removal is sent until it is seen: how often is no law yet. */
  function isFollowed(pipe: Pipe, { tablesToRemove = [] }: ReturnType<typeof valuesIn>): boolean {
    const { tables = [] } = wishOfPipe(model, pipe) ?? {}
    return tablesToRemove.some(({ name }) => tables.some((table) => table.name === name))
  }

  function setState(pipe: Pipe, life: Life, text: string): void {
    const { command } = JSON.parse(text) as { readonly command: 'start' | 'stop' } // ours
    if (command === 'start') return rests(model, pipe, undefined, false)
    const isAsked = wishOfPipe(run.model, pipe)?.isPaused === true
    // Who stops what somebody else has just stopped cannot know that.
    if (life.rest === 'person' && !isAsked) return lives(pipe, { rest: 'either', isOurs: true })
    if (life.rest !== undefined) return undefined
    rests(model, pipe, isAsked ? 'manifest' : 'us', !isAsked)
  }

  return { list, change }
}

/** A pipe as a reply shows it that is late. */
export function asBefore({ model }: Run, pipe: Pipe): Pipe {
  const live = shownBefore(model, pipe)
  return live === undefined || pipe.life === undefined ? pipe : { ...pipe, life: { ...pipe.life, live } }
}
