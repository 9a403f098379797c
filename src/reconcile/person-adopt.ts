import type { Difference } from '../kinds/difference.ts'
import type { Key } from '../kinds/key.ts'
import { compareBody } from '../kinds/compare-body.ts'
import { createOnceKindOf } from '../kinds/lookup.ts'
import type { JsonObject } from '../lib/json.ts'
import { sameId } from '../lib/same-id.ts'
import type { Reason } from '../plan/reason.ts'
import { undecidedIntent } from '../plan/outcome-unknown.ts'
import type { LedgerRecord, RecordedPipe } from '../plan/record.ts'
import { desiredService, recordedAccess } from './access.ts'
import { adoptionTarget } from './person-adopt-target.ts'
import { type Answer, type PersonDeps, inFlight, inRounds, nothingToResolve, refused } from './person.ts'
import { takeBack } from './person-recreate.ts'
import { SecretUnavailableError, type ReadOptions } from './ports.ts'
import { RemoteError } from './remote-error.ts'
import { heldElsewhere, takeOver } from './take-over.ts'

/** A pipe that a person gives to a key. */
export interface Adoption {
  readonly key: Key
  readonly pipeId: string
  /** `resolve` is only for a create of unknown outcome; `adopt` also says that a change was made in the console. */
  readonly word: 'adopt' | 'resolve'
}

/** `adopt` and `resolve --adopt`: the pipe belongs to the key from now on, as it is and as the manifest now asks. */
export function adoptAs(deps: PersonDeps, adoption: Adoption, signal: AbortSignal): Promise<Answer> {
  const options: ReadOptions = { priority: 0, signal }
  return inRounds(deps, adoption.key, async (recorded) => {
    try {
      return await adoptOnce(deps, adoption, recorded, options)
    } catch (error) {
      if (!(error instanceof RemoteError) && !(error instanceof SecretUnavailableError)) throw error
      return refused(`The platform cannot be asked for the pipe, so nothing was changed: ${error.message}`)
    }
  })
}

async function adoptOnce(
  deps: PersonDeps,
  { key, pipeId, word }: Adoption,
  recorded: LedgerRecord,
  options: ReadOptions,
): Promise<Answer> {
  const intent = undecidedIntent(recorded)
  if (word === 'resolve' && intent === undefined) return refused(nothingToResolve(recorded))
  const wait = intent === undefined ? undefined : await inFlight(deps, key, intent)
  const target = await adoptionTarget(deps, recorded)
  const why =
    wait ??
    target.problem ??
    claimOf(deps, recorded, pipeId) ??
    (await heldPipe(deps, recorded, pipeId, options))
  if (why !== undefined) return refused(why)
  if (target.problem !== undefined) throw new Error('a problem is a reason')

  const taken = await takeOver(deps, { recorded, pipeId, ...target.found }, options)
  if (!taken.taken) return refused(taken.why)
  const history = taken.history.map((entry) => ({ ...entry, message: `A person said so: ${entry.message}` }))
  await deps.ledger.swap({ ...taken.record, conditions: undefined }, history)
  const { body } = target.found
  const pipe = taken.reply.value
  const differences =
    body === undefined ? [] : compareBody(createOnceKindOf(key).fields, body, pipe as JsonObject)
  const said = sameId(recorded.pipe?.id, pipeId)
    ? `Pipe ${pipe.id} stays ${key}, and what the manifest asks for now, values of secrets included, counts as set there.`
    : `Pipe ${pipe.id} is ${key} from now on.`
  const settled =
    intent === undefined ? '' : ` Attempt ${intent.attempt} (intent ${intent.id}) is settled by that.`
  const message = `${said}${settled}${differWords(differences)}`
  return { result: 'done', message, pipeId: pipe.id, intentId: intent?.id, differences }
}

/** Another key that has the pipe, or that a manifest or a Lock gives it to, or another pipe that they give to this key. */
function claimOf({ world }: PersonDeps, recorded: LedgerRecord, pipeId: string): string | undefined {
  const { key } = recorded
  // The line that names the pipe which was given up was there before.
  const formerId = undecidedIntent(recorded) === undefined ? undefined : recorded.former?.pipe.id
  const isOther = (id: string) => !sameId(id, pipeId) && !sameId(id, formerId)
  const held = heldElsewhere(world, pipeId, key)
  if (held !== undefined) return held
  const { entries, locks } = world.catalog ?? { entries: new Map(), locks: new Map() }
  for (const { key: other, manifest, position } of entries.values()) {
    const named = manifest?.policy?.adopt
    const place = `policy.adopt at ${position.file}:${position.line}`
    if (other !== key && sameId(named, pipeId))
      return `Pipe ${pipeId} is for ${other}, by ${place}. Correct one of them.`
    if (other === key && named !== undefined && isOther(named)) {
      return `${key} is to be pipe ${named}, by ${place}. Correct that, or give that id.`
    }
  }
  for (const [other, id] of locks) {
    if (other !== key && sameId(id, pipeId))
      return `Pipe ${pipeId} is for ${other}, by a Lock. Correct one of them.`
    if (other === key && isOther(id))
      return `${key} is to be pipe ${id}, by a Lock. Correct that, or give that id.`
  }
  return undefined
}

/** Why a key that has a pipe cannot get another one: to take it would lose sight of the one it has. */
async function heldPipe(
  deps: PersonDeps,
  recorded: LedgerRecord,
  pipeId: string,
  options: ReadOptions,
): Promise<string | undefined> {
  const { key, pipe } = recorded
  if (pipe === undefined || sameId(pipe.id, pipeId)) return undefined
  const access = recordedAccess(
    deps.world,
    recorded,
    desiredService(deps.world, deps.world.entry(key)?.manifest),
  )
  if (access === undefined)
    return `${key} is pipe ${pipe.id}, and its service has no manifest to look for it with.`
  try {
    await deps.platform.read({ kind: createOnceKindOf(key), service: access, id: pipe.id }, options)
    await takeBack(deps, recorded)
  } catch (error) {
    if (!(error instanceof RemoteError) || error.facts.class !== 'Missing') throw error
    return isKnownGone(recorded, pipe) ? undefined : notBelieved(key, pipe)
  }
  return (
    `${key} is pipe ${pipe.id} already, and that one exists. Give pipe ${pipeId} a manifest of its own; or, to let go of ` +
    `${pipe.id}, remove the manifest, run "pipewright forget ${key}" once it is shown as Orphaned, and bring the manifest ` +
    `back with policy.adopt: ${pipeId}.`
  )
}

/** What whoever reconciles has found out: one 404, as this process sees it, is no proof. */
const GONE: ReadonlySet<Reason> = new Set(['Missing', 'ReplacedRecently', 'NeverSeen'])

function isKnownGone({ conditions }: LedgerRecord, { saidGoneAt }: RecordedPipe): boolean {
  const reason = conditions?.Synced.reason
  return saidGoneAt !== undefined || (reason !== undefined && GONE.has(reason))
}

function notBelieved(key: Key, pipe: RecordedPipe): string {
  return (
    `${key} is pipe ${pipe.id}, which is not found; that is not proved yet. Say it again when "pipewright status" shows it as ` +
    'Missing; or set policy.adopt: <the other id> in the manifest, which is acted on when it is proved, or when you run ' +
    `"pipewright resolve ${key} --recreate" after that, since you know that it is gone.`
  )
}

function differWords(differences: readonly Difference[]): string {
  if (differences.length === 0) return ''
  const fields = differences.map(({ field }) => field).join(', ')
  return ` The platform reports other values than the manifest for ${fields}.`
}
