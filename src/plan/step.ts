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

export interface StepContext {
  /** Such as `--config a.yaml`. `npx`: npm runs the command. */
  readonly typed?: readonly string[]
  /** Absolute, or relative to the reader. */
  readonly manifestsDir?: string | undefined
}

/** A command is quoted, or begins the text. */
export function withCommands(text: string, { typed = [] }: StepContext = {}): string {
  return text.replaceAll(/(^|")(?:npx )?pipewright ([^"\n]+)/g, (_, start: string, args: string) => {
    const words = args.split(' ')
    const isLocal = /^(?:apply|import|ledger|lock|run|validate)\b/.test(args)
    const known = ['npx', isLocal ? '--server' : '', ...words]
    words.push(...typed.filter((flag) => !known.some((one) => flag.split(' ')[0] === one)))
    return `${start}${typed.includes('npx') ? 'npx ' : ''}pipewright ${words.join(' ')}`
  })
}

export function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

export function proseOf(steps: readonly Step[], context?: StepContext): string {
  return withCommands(steps.map(sentenceOf).join(' '), context)
}

function sentenceOf({ text, shell, edit, copy }: Step): string {
  if (shell !== undefined) return `${text} "pipewright ${shell}".`
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
