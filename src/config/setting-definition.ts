import type { Parser } from './parsers.ts'

export interface SettingDefinition {
  readonly group:
    | 'General'
    | 'Manifests'
    | 'Platform'
    | 'Ledger'
    | 'Reconciling'
    | 'Page and HTTP'
    | 'Notifications'
    | 'Logs'
  /** Without leading dashes. */
  readonly flag: string
  /** Such as `DIR`. Undefined for a switch. */
  readonly placeholder?: string
  readonly env: string
  readonly default?: string
  readonly sandboxDefault?: string
  /** Describes the default in the docs if `default` cannot. */
  readonly defaultNote?: string
  readonly describe: string
  readonly parse: Parser<unknown>
}
