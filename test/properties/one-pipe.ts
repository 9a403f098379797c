import { keyOf } from '../../src/kinds/key.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import type { FakeClock } from '../support/fake-clock.ts'
import type { ModelPlatform, Post } from '../reconcile/model-platform.ts'
import type { ModelSecrets } from '../reconcile/model-secrets.ts'
import type { Ground } from './ground.ts'
import type { Line } from './lines.ts'
import { nameOfLine } from './lines.ts'
import { topicsOf } from './sight.ts'

/* The law of the whole, seen from the platform: what may arrive there as a create, at the moment at which it does. */

/** What is true at that moment. */
export interface Moment {
  readonly platform: Pick<ModelPlatform, 'pipes' | 'posts'>
  readonly clock: Pick<FakeClock, 'now'>
  readonly secrets: Pick<ModelSecrets, 'mounted'>
  readonly ground: Ground
  readonly lines: readonly Line[]
  readonly daemons: 1 | 2
  /** Topics of pipes of which a person said something that makes a second one right. */
  readonly excused: ReadonlySet<string>
}

/** @param owner the record whose intent it is. @returns what should not be */
export function judgePost(post: Post, owner: LedgerRecord | undefined, moment: Moment): readonly string[] {
  return [...notAskedFor(post, owner, moment), ...secondPipes(post, owner, moment)]
}

/** Nothing goes out that the manifests of this moment do not ask for. */
function notAskedFor(
  { key, body, serviceId }: Post,
  owner: LedgerRecord | undefined,
  moment: Moment,
): readonly string[] {
  const { lines, ground, clock, secrets } = moment
  const line = lines.find((candidate) => keyOf('Pipe', nameOfLine(candidate)) === key)
  if (line === undefined || !line.present) return [`${key} was created, and has no manifest`]
  const { flaw, suspendedUntil, adopt, replicas } = line
  const found = []
  if (flaw !== undefined) found.push('its manifest has errors')
  if (ground.isFlawed && line.service === 'analytics') found.push('the manifest of its service has errors')
  if (suspendedUntil !== undefined && suspendedUntil > clock.now()) found.push('it is suspended')
  const named = adopt ?? ground.lockedId(line)
  // The pipe that a Lock names may be the one that is gone.
  if (named !== undefined && named !== owner?.former?.pipe.id) found.push(`pipe ${named} is to be taken over`)
  if (serviceId !== ground.serviceIdOf(line)) found.push(`its service is not ${serviceId}`)
  const { scaling, source } = body as {
    readonly scaling: { readonly replicas: number }
    readonly source: { readonly kafka: { readonly credentials: { readonly password: string } } }
  } // all pipes here have them
  if (scaling.replicas !== replicas) found.push(`it is to have ${replicas} replicas`)
  if (source.kafka.credentials.password !== secrets.mounted.get('kafka/password'))
    found.push('its password is another one')
  return found.map((why) => `${key} was created, though ${why}`)
}

/** For one key never two pipes that exist. */
function secondPipes(post: Post, owner: LedgerRecord | undefined, moment: Moment): readonly string[] {
  const { platform, daemons, excused } = moment
  const { key, pipeId, body, intentId } = post
  const topics = topicsOf(body)
  if (pipeId === undefined || excused.has(topics)) return []
  const former = owner?.former?.pipe.id
  const made = new Map(platform.posts.map((other) => [other.intentId, other]))
  const rivals = [...platform.pipes.values()].filter(({ id, serviceId, intentId: by = '' }) => {
    if (id === pipeId || serviceId !== post.serviceId) return false
    const before = made.get(by)
    if (id === former || before?.key === key) return true
    // A second daemon, which the ledger on a disk refuses, does not know of every rename in time.
    return daemons === 1 && before?.body['name'] === body['name']
  })
  return rivals.map(({ id }) => `${key}: intent ${intentId} made pipe ${pipeId} beside ${id}, which exists`)
}
