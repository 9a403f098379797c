import type { MaskedText } from '../../lib/mask/secret-mask.ts'
import { parseKey, type Key } from '../../kinds/key.ts'
import { capital } from '../../kinds/lookup.ts'
import { z } from '../../kinds/zod.ts'
import type { Severity, Status } from '../severity.ts'
import type { About, Step } from '../step.ts'

export type Row<S extends z.ZodType> = (
  | { readonly status: Calm; readonly severity: 'info'; readonly alert?: Alert }
  | {
      readonly status: Exclude<Status, Calm>
      readonly severity: Exclude<Severity, 'info'>
      readonly alert: Alert
    }
) & {
  /** First words of the runbook entry of this reason. */
  readonly means: string
  readonly renotifies?: true
  readonly facts: S
  /** Cause and effect. @param noun such as "pipe" */
  words(facts: z.output<S>, noun: string, tell: (inner: InnerReason) => string): string
  /** @param facts undefined in old records */
  steps?(
    facts: z.output<S> | undefined,
    about: About,
    stepsOf: (inner: InnerReason) => readonly Step[],
  ): readonly Step[]
}

type Calm = 'Ready' | 'Progressing' | 'Suspended' | 'Absent'

/** A rule in `helm/rules/pipewright.rules.yaml`. */
type Alert = `Pipewright${string}`

export function row<S extends z.ZodType>(of: Row<S>): Row<S> {
  return of
}

export function sentence(said: string): string {
  return `${capital(said)}${/[.!?…]$/.test(said) ? '' : '.'}`
}

export const SAID = z.strictObject({ said: z.string() })

export const INNER_REASON = z.strictObject({ reason: z.string(), facts: z.unknown().optional() })
export type InnerReason = z.output<typeof INNER_REASON>

export const A_KEY = z.custom<Key>((value) => typeof value === 'string' && parseKey(value) !== undefined)

/** Masked, because the state is shown and stored. */
export const A_STATE = z.custom<MaskedText>((value) => typeof value === 'string')

/** ms since the epoch. */
export const A_TIME = z.number()

export const WELL = { status: 'Ready', severity: 'info' } as const
export const PROGRESSING = { status: 'Progressing', severity: 'info' } as const
export const FAILED = { status: 'Failed', severity: 'warning', alert: 'PipewrightFailed' } as const
export const REFUSED = { status: 'Refused', severity: 'warning', alert: 'PipewrightRefused' } as const
export const DRIFTED = { status: 'Drifted', severity: 'warning', alert: 'PipewrightDrifted' } as const
export const MISSING = { status: 'Missing', severity: 'critical', alert: 'PipewrightMissing' } as const
export const NOT_READY = { status: 'NotReady', severity: 'warning', alert: 'PipewrightNotReady' } as const
