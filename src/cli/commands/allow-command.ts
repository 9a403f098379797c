import type { Settings } from '../../config/settings.ts'
import type { Key } from '../../kinds/key.ts'
import { isObject } from '../../lib/json.ts'
import type { Allowance, Allowed } from '../../contract/allowance.ts'
import { allowCreations } from '../../reconcile/operator/allow.ts'
import type { OperatorContext } from '../../reconcile/operator/operator.ts'
import type { AllowedReply } from '../../server/api/allow-requests.ts'
import { commandLine, commandsTyped } from '../../server/command-line.ts'
import { commandContext } from '../command-context.ts'
import { adminTokenOf, callServer, expectObject } from '../server-client.ts'
import { networkToOthers } from '../compose-network.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson } from '../io.ts'
import { withOperatorContext } from './operator-command.ts'

export const ALLOW_OUTPUTS = ['text', 'json'] as const

/** Keys that one message names. */
const NAMED = 20

export interface AllowOptions extends Allowance {
  readonly output: (typeof ALLOW_OUTPUTS)[number]
}

/** `pipewright allow`: lets pass, once, what the create limit holds back now; also beside a daemon. */
export async function allow(io: Io, settings: Settings, options: AllowOptions): Promise<ExitCode> {
  const { output, ...allowance } = options
  const answer =
    settings.server === undefined
      ? await withOperatorContext(io, settings, { platform: 'not asked', ledger: 'existing' }, (context) =>
          allowHere(context, allowance, settings.manifests),
        )
      : await askDaemon(io, settings, { server: settings.server, allowance })
  if (answer.is === 'grown')
    throw new CommandError(
      `allow: the ${nameOf(options)} blocks ${answer.count} now, and nothing was allowed. ` +
        `Look with "pipewright allow${ofDeletions(options)} --dry-run".`,
    )
  const { allowed } = answer
  if (output === 'json') printJson(io, { allowed, dryRun: allowance.mode === 'dry-run' })
  else print(io.stdout, commandsTyped(wordsOf(allowed, allowance, settings), commandContext(settings)))
  return EXIT.fine
}

/**
 * What is held back by the directory that is read here. @throws {CommandError} when that is not the one that the daemon
 * reads, as far as this can be told: "nothing is held back" would be no answer then.
 */
async function allowHere(
  context: OperatorContext,
  allowance: Allowance,
  manifests: string,
): Promise<Allowed> {
  const { store, ledger } = context
  const problem = store.catalog?.problem
  if (problem !== undefined)
    throw new CommandError(
      `allow: it is not known what the ${nameOf(allowance)} holds back. ${problem.message} --manifests names ${manifests}.`,
    )
  const answer = await allowCreations(context, allowance)
  if (answer.is === 'grown' || answer.allowed.length > 0) return answer
  const refused = (await ledger.list()).filter(
    ({ key, conditions, service }) =>
      conditions?.Synced.reason === limitOf(allowance) &&
      store.entry(key) === undefined &&
      (allowance.service === undefined || service?.name === allowance.service),
  ).length
  if (refused === 0) return answer
  throw new CommandError(
    `allow: the manifests in ${manifests} hold nothing back, but the ${nameOf(allowance)} refuses ` +
      `${refused} ${refused === 1 ? 'resource' : 'resources'} of the ledger, and none of them has a manifest there. ` +
      'Name the directory that the daemon reads with --manifests DIR.',
  )
}

/** A daemon writes as many records as there are creations, each to the disk: ms. */
const ANSWER_MS = 300_000

async function askDaemon(
  io: Io,
  settings: Settings,
  { server, allowance }: { readonly server: string; readonly allowance: Allowance },
): Promise<Allowed> {
  const command = 'allow'
  const token = await adminTokenOf(settings, command)
  const { service, count, mode, what } = allowance
  const body = {
    type: 'application/json',
    text: JSON.stringify({
      service,
      count,
      dryRun: mode === 'dry-run',
      deletions: what === 'deletions' || undefined,
    }),
  }
  const call = {
    command,
    server,
    network: networkToOthers(settings),
    method: 'POST',
    path: '-/allow',
    token,
    body,
    timeoutMs: ANSWER_MS,
  } as const
  const reply = await callServer(io, call)
  if (reply.status === 409 && isObject(reply.body) && typeof reply.body['count'] === 'number')
    return { is: 'grown', count: reply.body['count'] }
  const answer = expectObject(call, reply) as unknown as AllowedReply // as the daemon made it
  return { is: 'allowed', ...answer }
}

function limitOf({ what }: Allowance): 'CreateLimit' | 'DeleteLimit' {
  return what === 'deletions' ? 'DeleteLimit' : 'CreateLimit'
}

function nameOf({ what }: Allowance): string {
  return what === 'deletions' ? 'limit on deletions' : 'create limit'
}

/** The option that asks for it. */
function ofDeletions({ what }: Allowance): string {
  return what === 'deletions' ? ' --deletions' : ''
}

function wordsOf(allowed: readonly Key[], allowance: Allowance, settings: Settings): string {
  const { service, mode, what } = allowance
  const limit = nameOf(allowance)
  const where = service === undefined ? '' : ` in service ${service}`
  if (allowed.length === 0)
    return `The ${limit} holds nothing back${where}. "pipewright status" shows what needs attention.`
  const rest = allowed.length - NAMED
  const names = allowed.slice(0, NAMED).map((key) => `  ${key}`)
  const one = what === 'deletions' ? 'deletion' : 'creation'
  const pending = `${allowed.length} ${allowed.length === 1 ? one : `${one}s`}${where}`
  const ofService = service === undefined ? '' : ` --service ${service}`
  const exactly = `allow${ofDeletions(allowance)}${ofService} --count ${allowed.length}`
  const done =
    what === 'deletions'
      ? 'The daemon deletes them ten minutes after they were asked for; without a daemon, an apply does. What a later commit adds is not included.'
      : 'The daemon creates them now; without a daemon, the next apply does. What a later commit adds is not included.'
  const [first, ...last] =
    mode === 'dry-run'
      ? [
          `The ${limit} holds back ${pending}. Nothing was allowed:`,
          `To allow these: ${commandLine(exactly, commandContext(settings))}`,
        ]
      : [`Allowed ${pending}, once, as their manifests are now:`, done]
  return [first, ...names, ...(rest > 0 ? [`  and ${rest} more`] : []), ...last].join('\n')
}
