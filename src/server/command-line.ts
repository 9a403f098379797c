import type { ResourceStatus } from '../contract/status.ts'
import { shellWord } from '../plan/reasons/row.ts'

/** What a command of a person has to name, so that it acts on what whoever says it works with. */
export interface CommandContext {
  readonly sandbox: boolean
  /** The ledger, where it is not the one that a command takes by itself. */
  readonly ledger: string | undefined
  /** The profile, where it is not the default one. */
  readonly profile?: string | undefined
  /** The directory of the manifests, where a command would read another one. */
  readonly manifests?: string | undefined
  /** Where the platform answers, for the commands that ask it. Undefined: it is the sandbox, or nobody knows. */
  readonly baseUrl?: string | undefined
  /** The directories of the secrets, for the same commands, where they would take others. */
  readonly credentialsDir?: string | undefined
  readonly secretsDir?: string | undefined
  /** The daemon that was asked; commands that ask none are for the machine where it runs. */
  readonly server?: string | undefined
}

/** Nothing but what commands depend on. */
export function contextOf(known: CommandContext): CommandContext {
  const { sandbox, ledger, profile, manifests, baseUrl, credentialsDir, secretsDir, server } = known
  return { sandbox, ledger, profile, manifests, baseUrl, credentialsDir, secretsDir, server }
}

const ASK_A_SERVER: ReadonlySet<string> = new Set(['status', 'history', 'plan', 'reconcile', 'allow'])
/** Of those that a server is asked for. */
const NEED_A_TOKEN: ReadonlySet<string> = new Set(['plan', 'reconcile', 'allow'])
const NEED_NO_LEDGER: ReadonlySet<string> = new Set(['validate', 'explain', 'schema'])
const READ_MANIFESTS: ReadonlySet<string> = new Set([
  'validate',
  'plan',
  'apply',
  'allow',
  'adopt',
  'resolve',
  'forget',
  'import',
])
/** Manifests, and what is recorded of them, are of one profile. */
const NEED_A_PROFILE: ReadonlySet<string> = new Set([...READ_MANIFESTS, 'explain', 'schema'])
const ASK_THE_PLATFORM = /^(?:plan|apply|adopt|import|resolve .*--(?:adopt|recreate))\b/

/** A command line of Pipewright, as it is typed here: what it names already stays. */
export function commandLine(args: string, context: CommandContext): string {
  const { sandbox, ledger, profile, manifests, baseUrl, credentialsDir, secretsDir, server } = context
  const [name = ''] = args.split(' ', 1)
  const flag = (text: string, value: string | undefined, isNeeded: boolean) =>
    value === undefined || !isNeeded || args.includes(` ${text} `) ? '' : ` ${text} ${shellWord(value)}`
  if (server !== undefined) {
    const asked = flag('--server', server, ASK_A_SERVER.has(name))
    return `pipewright ${args}${asked}${flag('--admin-token-file', 'FILE', NEED_A_TOKEN.has(name))}`
  }
  const others = [
    flag('--ledger', ledger, !NEED_NO_LEDGER.has(name)),
    flag('--profile', profile, NEED_A_PROFILE.has(name)),
    flag('--manifests', manifests, READ_MANIFESTS.has(name)),
    flag('--base-url', baseUrl, !sandbox && ASK_THE_PLATFORM.test(args)),
    flag('--credentials-dir', credentialsDir, ASK_THE_PLATFORM.test(args)),
    flag('--secrets-dir', secretsDir, ASK_THE_PLATFORM.test(args)),
  ].join('')
  return sandbox ? `npx pipewright ${args} --sandbox${others}` : `pipewright ${args}${others}`
}

/** For what a daemon said: it has put in what a command has to name there. */
export const AS_SAID: CommandContext = { sandbox: false, ledger: undefined }

/** A message in which commands stand as `"pipewright …"`, for whoever reads it here: only what they are to type changes. */
export function commandsTyped(message: string, context: CommandContext): string {
  return message.replaceAll(
    /"pipewright ([^"]+)"/g,
    (_all, args: string) => `"${commandLine(args, context)}"`,
  )
}

/** The same of all that is said of a resource. */
export function resourceTyped<T extends Pick<ResourceStatus, 'message' | 'conditions'>>(
  resource: T,
  context: CommandContext,
): T {
  if (context === AS_SAID) return resource
  const { Valid, Synced, Ready } = resource.conditions
  const conditions = {
    Valid: messageTyped(Valid, context),
    Synced: messageTyped(Synced, context),
    Ready: messageTyped(Ready, context),
  }
  return { ...messageTyped(resource, context), conditions }
}

/** The same of one entry of a history, or one condition. */
export function messageTyped<T extends { readonly message: string }>(said: T, context: CommandContext): T {
  return { ...said, message: commandsTyped(said.message, context) }
}
