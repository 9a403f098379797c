import { createSecretMask, type MaskedText } from '../../lib/mask/secret-mask.ts'
import type { Difference } from '../../kinds/difference.ts'
import type { FieldEdit } from '../../kinds/field-edit.ts'
import { parseKey, type Key } from '../../kinds/key.ts'
import { capital } from '../../kinds/lookup.ts'
import { z } from '../../kinds/zod.ts'
import type { Severity, Status } from '../severity.ts'

/**
 * All there is to a reason: what it means, how it stands, its facts, and what they are as words and as a remedy. A message is made of
 * facts at the last moment; nothing is ever read back out of one.
 */
export type Row<S extends z.ZodType> = Standing & {
  /** In a few words; `docs/runbook.md` begins its entry with them. */
  readonly means: string
  /** Under the same reason, another message is news too: it names fields, a state or a finding. */
  readonly toldAnew?: true
  readonly facts: S
  /** Facts as the runbook shows them, with placeholders. */
  readonly sample: z.output<S>
  /** @param noun what the resource is called: "pipe" */
  words(facts: z.output<S>, noun: string): Words
  /** What a person does about it. @param facts undefined: an earlier version recorded the reason without */
  steps?(facts: z.output<S> | undefined, about: About): readonly Step[]
}

/** The status that it gives a resource; one that is not well has an alert that wakes somebody. */
export type Standing =
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

/** Nobody has to look. */
type Calm = 'Ready' | 'Progressing' | 'Suspended' | 'Absent'

/** A rule in `helm/rules/pipewright.rules.yaml`. */
type Alert = `Pipewright${string}`

/** What happened and why, and what to do about it: sentences. Both together are the message. */
export interface Words {
  readonly cause: string
  /** Empty: nothing, or the cause has it. */
  readonly remedy: string
}

/** One thing to do, in a sentence, which ends with a colon when `shell` or `copy` follows it. */
export interface Step {
  readonly text: string
  /** Arguments of `pipewright`. */
  readonly shell?: string
  /** What to write into the manifest. */
  readonly edit?: FieldEdit
  /** A place, an id, a path. */
  readonly copy?: string | undefined
}

/** The resource that steps are about. */
export interface About {
  readonly key: Key
  /** It is created, though most of its kind are only looked at. */
  readonly isWritten?: true | undefined
  /** Of its manifest: `manifests/payments/orders.yaml:3`, or in words when that is not known. */
  readonly place: string
  /** The directory of the manifests. */
  readonly directory: string
  readonly service: string | undefined
  readonly pipeId: string | undefined
  /** As the platform reports it. */
  readonly id: string | undefined
  readonly differences: readonly Difference[]
}

/** Lets each row have the type of its own facts. */
export function row<S extends z.ZodType>(of: Row<S>): Row<S> {
  return of
}

/** A reason that says all by itself. */
export function plain(
  of: Standing & { readonly means: string; readonly message: string },
): Row<z.ZodUndefined> {
  const { message, ...rest } = of
  return { ...rest, facts: z.undefined(), sample: undefined, words: () => ({ cause: message, remedy: '' }) }
}

/** One sentence or more that need no remedy beside them. */
export function only(cause: string): Words {
  return { cause, remedy: '' }
}

/** What was met elsewhere, with a capital letter and a full stop. */
export function sentence(said: string): string {
  return `${capital(said)}${/[.!?…]$/.test(said) ? '' : '.'}`
}

/** The whole of it. */
export function joined({ cause, remedy }: Words): string {
  return remedy === '' ? cause : `${cause} ${remedy}`
}

/** In the words of whoever met it: the platform, the ledger, a file. They are shown and never read. */
export const SAID = z.strictObject({ said: z.string() })

export const A_KEY = z.custom<Key>((value) => typeof value === 'string' && parseKey(value) !== undefined)

/** A state of the platform. Facts are told and stored: it is masked. */
export const A_STATE = z.custom<MaskedText>((value) => typeof value === 'string')

/** A state that holds no secret, for a sample. */
export const sampleState = createSecretMask().mask

export const A_TIME = z.number()

export function place(text: string): (facts: unknown, about: About) => readonly Step[] {
  return (_facts, about) => [{ text, copy: about.place }]
}

export function serviceWords({ service }: About): string {
  return service === undefined ? 'its service' : `service ${service}`
}

/** A name from elsewhere as one word of a command line. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** A sentence that goes on with an id, where there is one. */
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
