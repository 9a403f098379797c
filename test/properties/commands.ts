import type { ErrorClass } from '../../src/reconcile/remote-error.ts'
import type { WriteScript } from '../reconcile/model-ledger.ts'
import type { Script } from '../reconcile/model-script.ts'

/** Pipes of a history; each is a line of manifests under changing names. */
export const LINES = 5

/** What becomes of the manifest of a service, or of the file with the Lock. */
export type GroundCommand =
  'service-flaw' | 'service-mend' | 'service-move' | 'service-back' | 'lock-break' | 'lock-mend'

/** One thing that happens, as data, so that a failing history can be read and made shorter. */
export type Command =
  | {
      readonly type: 'edit' | 'undo' | 'flaw' | 'break' | 'mend' | 'remove' | 'restore' | 'fresh' | 'unsay'
      readonly line: number
    }
  | { readonly type: 'rename' | 'move-file'; readonly line: number; readonly to: number }
  | { readonly type: 'suspend'; readonly line: number; readonly ms: number }
  | { readonly type: 'on-missing'; readonly line: number; readonly says: 'recreate' | 'report' }
  | { readonly type: 'renamed-from' | 'replaces'; readonly line: number }
  | { readonly type: 'depends'; readonly line: number; readonly on: number }
  | { readonly type: 'rotate' | 'unmount' | 'mount' }
  | { readonly type: GroundCommand }
  /** A Lock names the pipe that the key has, or another one; or no Lock speaks of it. */
  | { readonly type: 'lock'; readonly line: number; readonly which: 'own' | 'stray' | 'none' }
  /** Pipes that exist are not found for a while, and perhaps none may be created. */
  | {
      readonly type: 'hide'
      readonly line: number
      readonly who: 'pipe' | 'service' | 'all'
      readonly how: 'missing' | 'gateway'
      readonly creates: ErrorClass | undefined
    }
  | { readonly type: 'show'; readonly who: 'pipe' | 'service' | 'all' | undefined }
  | { readonly type: 'crash'; readonly process: number }
  | { readonly type: 'jump' | 'advance'; readonly ms: number }
  | {
      readonly type: 'replies'
      readonly operation: 'admit' | 'create' | 'get' | 'upsert'
      readonly replies: readonly (Script | 'ok')[]
    }
  | { readonly type: 'disk'; readonly process: number; readonly writes: readonly WriteScript[] }
  | { readonly type: 'unreadable'; readonly process: number; readonly reads: number }
  | { readonly type: 'vanish'; readonly lines: readonly number[] }
  | { readonly type: 'change'; readonly line: number }
  /** A person looks at the console and gives the pipe to the key, or another one that somebody made there. */
  | {
      readonly type: 'adopt'
      readonly line: number
      readonly which: 'own' | 'stray'
      readonly by: 'policy' | 'shell'
    }
  | { readonly type: 'approve'; readonly line: number; readonly by: 'policy' | 'shell' | 'force' }
  /** A person says that the pipe of the key is gone, whether that is true or not. */
  | { readonly type: 'recreate'; readonly line: number; readonly by: 'policy' | 'shell' }
  | { readonly type: 'forget'; readonly line: number }
  | { readonly type: 'turn'; readonly process: number; readonly line: number }
  /** Two daemons have a turn of the same key at the same time. */
  | { readonly type: 'both'; readonly line: number; readonly hops: number }
  /** All keys have a turn in one daemon at the same time. */
  | { readonly type: 'together'; readonly hops: number }
  /** A create takes its time, and something happens while it is under way. */
  | { readonly type: 'during'; readonly line: number; readonly meanwhile: Command }
  /** A create waits for the budget, and something happens meanwhile. */
  | {
      readonly type: 'waiting'
      readonly line: number
      readonly ms: number
      readonly meanwhile: readonly Command[]
    }
  | { readonly type: 'pass'; readonly process: number; readonly ms: number; readonly times: number }
