import type { Difference } from '../kinds/difference.ts'
import type { Key } from '../kinds/key.ts'

/** The text ends with a colon before `shell` and `copy`, and with a comma before `edit`. */
export interface Step {
  readonly text: string
  /** Arguments of `pipewright`. */
  readonly shell?: string
  readonly edit?: FieldEdit
  readonly copy?: string | undefined
}

export interface FieldEdit {
  /** From the top, such as `['policy', 'onMissing']`. */
  readonly path: readonly string[]
  readonly value: string
}

export interface About {
  readonly key: Key
  readonly isWritten?: true | undefined
  readonly place?: string | undefined
  readonly service?: string | undefined
  readonly pipeId?: string | undefined
  readonly id?: string | undefined
  readonly differences?: readonly Difference[]
}

export interface CommandContext {
  readonly sandbox?: boolean
  readonly profile?: { readonly name: string }
  readonly config?: string | undefined
  readonly server?: string | undefined
}

export interface StepContext extends CommandContext {
  /** Absolute, or relative to the reader's folder. */
  readonly manifestsDir?: string | undefined
}

export function commandLine(args: string, { sandbox, profile, config, server }: CommandContext = {}): string {
  const given = { config, profile: sandbox && profile?.name !== 'default' && profile?.name, server }
  const flags = Object.entries(given).map(([flag, value]) => (value ? ` --${flag} ${shellWord(value)}` : ''))
  return (sandbox ? `npx pipewright ${args} --sandbox` : `pipewright ${args}`) + flags.join('')
}

export function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

export function proseOf(steps: readonly Step[], context?: CommandContext): string {
  return steps.map((step) => sentenceOf(step, context)).join(' ')
}

function sentenceOf({ text, shell, edit, copy }: Step, context: CommandContext | undefined): string {
  if (shell !== undefined) return `${text} "${commandLine(shell, context)}".`
  if (edit !== undefined) return `${text} set ${edit.path.join('.')}: ${edit.value}.`
  return copy === undefined ? text.replace(/:$/, '.') : `${text} ${copy}.`
}

export function withId(text: string, id: string | undefined): Step {
  return id === undefined ? { text } : { text: `${text} Resource id:`, copy: id }
}

export function serviceWords({ service }: Pick<About, 'service'>): string {
  return service === undefined ? 'its service' : `service ${service}`
}

export function placeOf(dir: string | undefined, file: string, line: number | undefined): string {
  const path = dir === undefined || dir === '' || dir === '.' ? file : `${dir.replace(/\/$/, '')}/${file}`
  return line === undefined ? path : `${path}:${line}`
}
