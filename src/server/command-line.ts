import { shellWord } from '../plan/reasons/row.ts'

/** To act on the same installation. Undefined: the default. */
export interface CommandContext {
  readonly sandbox: boolean
  readonly ledger: string | undefined
  readonly profile?: string | undefined
  readonly manifests?: string | undefined
  /** Undefined: the sandbox, or unknown. */
  readonly baseUrl?: string | undefined
  readonly credentialsDir?: string | undefined
  readonly secretsDir?: string | undefined
  /** The daemon that answered. Commands without a server run on its machine. */
  readonly server?: string | undefined
}

export function contextOf(known: CommandContext): CommandContext {
  const { sandbox, ledger, profile, manifests, baseUrl, credentialsDir, secretsDir, server } = known
  return { sandbox, ledger, profile, manifests, baseUrl, credentialsDir, secretsDir, server }
}

const FOR_THE_OWNER = ['allow', 'adopt', 'resolve', 'forget', 'suspend', 'resume']
const NEED_A_TOKEN: ReadonlySet<string> = new Set(['plan', 'reconcile', ...FOR_THE_OWNER])
const ASK_A_SERVER: ReadonlySet<string> = new Set(['status', 'history', ...NEED_A_TOKEN])
const NEED_NO_LEDGER: ReadonlySet<string> = new Set(['validate', 'explain', 'schema'])
const READ_MANIFESTS: ReadonlySet<string> = new Set(['validate', 'plan', 'apply', 'import', ...FOR_THE_OWNER])
const NEED_A_PROFILE: ReadonlySet<string> = new Set([...READ_MANIFESTS, 'explain', 'schema'])
const ASK_THE_PLATFORM = /^(?:plan|apply|adopt|import|resolve .*--(?:adopt|recreate))\b/

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

/** A daemon's text already has the options. */
export const AS_SAID: CommandContext = { sandbox: false, ledger: undefined }

/** Completes each `"pipewright …"` in a message. */
export function commandsTyped(message: string, context: CommandContext): string {
  return message.replaceAll(
    /"pipewright ([^"]+)"/g,
    (_all, args: string) => `"${commandLine(args, context)}"`,
  )
}

export function messageTyped<T extends { readonly message: string }>(said: T, context: CommandContext): T {
  return { ...said, message: commandsTyped(said.message, context) }
}
