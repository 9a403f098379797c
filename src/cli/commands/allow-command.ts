import type { ReconcileContext } from '../../reconcile/context.ts'
import type { Settings } from '../../config/settings.ts'
import type { Key } from '../../kinds/key.ts'
import { isObject } from '../../lib/json.ts'
import type { Allowance, Allowed } from '../../contract/person-command.ts'
import { allowBlocked } from '../../reconcile/operator/allow.ts'
import { withCommands } from '../../plan/step.ts'
import { callOwner, expectObject, type ServerAddress } from '../server-client.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson } from '../io.ts'
import { atOwner } from './operator-command.ts'

const LIMITS = {
  CreateLimit: {
    name: 'create limit',
    one: 'creation',
    flag: '',
    next: 'The daemon creates them now. Without a daemon, run "pipewright apply".',
  },
  DeleteLimit: {
    name: 'limit on deletions',
    one: 'deletion',
    flag: ' --deletions',
    next: 'The daemon deletes each one ten minutes after it read the manifest that asks for the deletion. Without a daemon, run "pipewright apply" after that time.',
  },
} as const

function limitOf({ deletions }: Pick<Allowance, 'deletions'>): keyof typeof LIMITS {
  return deletions ? 'DeleteLimit' : 'CreateLimit'
}

const NAMED = 20

export async function allow(
  io: Io,
  settings: Settings,
  flags: Pick<Allowance, 'service' | 'count'> & {
    readonly dryRun?: true
    readonly deletions?: true
    readonly output: 'text' | 'json'
  },
): Promise<ExitCode> {
  const { service, count, dryRun = false, deletions = false, output } = flags
  const allowance = { service, count, dryRun, deletions }
  const { name, flag } = LIMITS[limitOf(allowance)]
  const answer = await atOwner(
    io,
    settings,
    'allow',
    (owner) => askDaemon(io, owner, allowance),
    ({ context }) => allowHere(context, allowance, settings.manifests),
  )
  if ('blocked' in answer)
    throw new CommandError(
      `allow: no action was allowed: the ${name} blocks ${answer.blocked} now, more than --count. To see them: "pipewright allow${flag} --dry-run".`,
    )
  const { allowed, isWithoutService } = answer
  if (isWithoutService === true)
    throw new CommandError(
      `allow: there is no service "${service}". To list the services: "pipewright status --kind Service".`,
    )
  if (output === 'json') printJson(io, { allowed, dryRun })
  else print(io.stdout, withCommands(wordsOf(allowed, allowance), settings))
  return EXIT.fine
}

/** @throws {CommandError} if the daemon is known to use another directory: the result would be wrong */
async function allowHere(
  context: ReconcileContext,
  allowance: Allowance,
  manifests: string,
): Promise<Allowed> {
  const { store, ledger } = context
  const limit = limitOf(allowance)
  const { name } = LIMITS[limit]
  const problem = store.catalog?.problem
  if (problem !== undefined)
    throw new CommandError(
      `allow: it is unknown which resources the ${name} blocks. ${problem.message} Check --manifests: it names ${manifests}.`,
    )
  const answer = await allowBlocked(context, allowance)
  if ('blocked' in answer || answer.allowed.length > 0) return answer
  const refused = (await ledger.list()).filter(
    ({ key, conditions, service }) =>
      conditions?.Synced.reason === limit &&
      store.entry(key) === undefined &&
      (allowance.service === undefined || service?.name === allowance.service),
  ).length
  if (refused === 0) return answer
  throw new CommandError(
    `allow: the ${name} blocks ${refused} ${refused === 1 ? 'resource' : 'resources'} of the ledger, but ${manifests} has no manifest of ${refused === 1 ? 'it' : 'them'}. ` +
      "Name the daemon's directory: --manifests DIR.",
  )
}

/** Long, because a daemon writes a record to disk for each allowed create. */
const ANSWER_MS = 300_000

async function askDaemon(io: Io, owner: ServerAddress, allowance: Allowance): Promise<Allowed> {
  const reply = await callOwner(io, owner, { path: '-/allow', body: allowance, timeoutMs: ANSWER_MS })
  if (reply.status === 409 && isObject(reply.body) && typeof reply.body['count'] === 'number')
    return { blocked: reply.body['count'] }
  return expectObject(owner, reply) as unknown as Allowed // the daemon's type
}

function wordsOf(allowed: readonly Key[], allowance: Allowance): string {
  const { service, dryRun } = allowance
  const { name, one, flag, next } = LIMITS[limitOf(allowance)]
  const where = service === undefined ? '' : ` in service ${service}`
  if (allowed.length === 0)
    return `The ${name} blocks no resource now${where}. "pipewright status" shows what needs attention.`
  const rest = allowed.length - NAMED
  const names = allowed.slice(0, NAMED).map((key) => `  ${key}`)
  const pending = `${allowed.length} ${one}${allowed.length === 1 ? '' : 's'}${where}`
  const ofService = service === undefined ? '' : ` --service ${service}`
  const again = `pipewright allow${flag}${ofService} --count ${allowed.length}`
  const [first, last] = dryRun
    ? [`The ${name} blocks ${pending}. No action was allowed:`, `To allow these: "${again}"`]
    : [`Allowed ${pending}, once, as their manifests are now:`, `${next} Later commits are not included.`]
  return [first, ...names, ...(rest > 0 ? [`  and ${rest} more`] : []), last].join('\n')
}
