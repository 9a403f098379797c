import { createSecretMask, type MaskedText } from '../../lib/mask/secret-mask.ts'
import type { Difference } from '../../kinds/difference.ts'
import { parseKey, type Key } from '../../kinds/key.ts'
import { capital } from '../../kinds/lookup.ts'
import { z } from '../../kinds/zod.ts'
import type { Severity, Status } from '../severity.ts'

/** A message is never parsed. */
export type Row<S extends z.ZodType> = Standing & {
  /** First words of its runbook entry. */
  readonly means: string
  readonly toldAnew?: true
  readonly facts: S
  /** With placeholders, for the runbook. */
  readonly sample: z.output<S>
  /** @param noun such as "pipe" */
  words(facts: z.output<S>, noun: string, tell: Tell): Words
  /** @param facts undefined in old records */
  steps?(facts: z.output<S> | undefined, about: About): readonly Step[]
}

type Standing =
  | {
      readonly status: Calm
      readonly severity: 'info'
      readonly alert?: Alert
    }
  | {
      readonly status: Exclude<Status, Calm>
      readonly severity: Exclude<Severity, 'info'>
      readonly alert: Alert
    }

type Calm = 'Ready' | 'Progressing' | 'Suspended' | 'Absent'

/** A rule in `helm/rules/pipewright.rules.yaml`. */
type Alert = `Pipewright${string}`

/** A text includes its remedy, or has none. */
export type Words = string | { readonly cause: string; readonly remedy: string }

export interface FieldEdit {
  /** From the document's top, such as `['policy', 'onMissing']`. */
  readonly path: readonly string[]
  readonly value: string
}

/** The text ends with a colon before `shell` or `copy`. */
export interface Step {
  readonly text: string
  /** Arguments of `pipewright`. */
  readonly shell?: string
  readonly edit?: FieldEdit
  readonly copy?: string | undefined
}

export interface About {
  readonly key: Key
  /** Created from its manifest, although most of its kind are only read. */
  readonly isWritten?: true | undefined
  /** Such as `manifests/payments/orders.yaml:3`; words if unknown. */
  readonly place: string
  readonly directory: string
  readonly service: string | undefined
  readonly pipeId: string | undefined
  readonly id: string | undefined
  readonly differences: readonly Difference[]
}

export function row<S extends z.ZodType>(of: Row<S>): Row<S> {
  return of
}

export function causeIn(words: Words): string {
  return typeof words === 'string' ? words : words.cause
}

export function sentence(said: string): string {
  return `${capital(said)}${/[.!?…]$/.test(said) ? '' : '.'}`
}

export function joined(words: Words): string {
  return typeof words === 'string' ? words : `${words.cause} ${words.remedy}`.trimEnd()
}

/** Words of the platform, the ledger or a file, never parsed. */
export const SAID = z.strictObject({ said: z.string() })

export const INNER_REASON = z.strictObject({ reason: z.string(), facts: z.unknown().optional() })
export type InnerReason = z.output<typeof INNER_REASON>
export type Tell = (inner: InnerReason) => string

export const A_KEY = z.custom<Key>((value) => typeof value === 'string' && parseKey(value) !== undefined)

/** Masked, because facts are shown and stored. */
export const A_STATE = z.custom<MaskedText>((value) => typeof value === 'string')

export const sampleState = createSecretMask().mask

/** ms since the epoch. */
export const A_TIME = z.number()

export function serviceWords({ service }: Pick<About, 'service'>): string {
  return service === undefined ? 'its service' : `service ${service}`
}

export function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

export function withId(text: string, id: string | undefined): Step {
  return id === undefined ? { text } : { text: `${text} Its id:`, copy: id }
}

export const WELL = { status: 'Ready', severity: 'info' } as const
export const PROGRESSING = { status: 'Progressing', severity: 'info' } as const
export const FAILED = { status: 'Failed', severity: 'warning', alert: 'PipewrightFailed' } as const
export const REFUSED = { status: 'Refused', severity: 'warning', alert: 'PipewrightRefused' } as const
export const DRIFTED = { status: 'Drifted', severity: 'warning', alert: 'PipewrightDrifted' } as const
export const MISSING = { status: 'Missing', severity: 'critical', alert: 'PipewrightMissing' } as const
export const NOT_READY = { status: 'NotReady', severity: 'warning', alert: 'PipewrightNotReady' } as const
