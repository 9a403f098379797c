import type { ResourceStatus } from '../contract/status.ts'
import { shellWord } from '../plan/reasons/row.ts'

/** What a command of a person has to name, so that it acts on what whoever says it works with. */
export interface CommandContext {
  readonly sandbox: boolean
  /** The ledger, where it is not the one that a command takes by itself. */
  readonly ledger: string | undefined
  /** The daemon that was asked; commands that ask none are for the machine where it runs. */
  readonly server?: string | undefined
}

const ASK_A_SERVER: ReadonlySet<string> = new Set(['status', 'history', 'plan', 'reconcile', 'allow'])
const NEED_NO_LEDGER: ReadonlySet<string> = new Set(['validate', 'explain', 'schema'])

/** A command line of Pipewright, as it is typed here. */
export function commandLine(args: string, { sandbox, ledger, server }: CommandContext): string {
  const [name = ''] = args.split(' ', 1)
  if (server !== undefined)
    return `pipewright ${args}${ASK_A_SERVER.has(name) ? ` --server ${shellWord(server)}` : ''}`
  const other = ledger === undefined || NEED_NO_LEDGER.has(name) ? '' : ` --ledger ${shellWord(ledger)}`
  return sandbox ? `npx pipewright ${args} --sandbox${other}` : `pipewright ${args}${other}`
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
  if (!context.sandbox && context.ledger === undefined) return resource
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
