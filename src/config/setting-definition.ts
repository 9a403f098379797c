import type { Parser } from './parsers.ts'

/** In the order of the help. */
export const SETTING_GROUPS = [
  'General',
  'Manifests',
  'Platform',
  'Ledger',
  'Reconciling',
  'Page and HTTP',
  'Notifications',
  'Logs',
] as const

type SettingGroup = (typeof SETTING_GROUPS)[number]

export interface SettingDefinition<T = unknown> {
  readonly group: SettingGroup
  /** Without leading dashes. */
  readonly flag: string
  /** Such as `DIR`. Undefined for a switch. */
  readonly placeholder: string | undefined
  readonly env: string
  /** As a user would write it. Undefined if there is none. */
  readonly default: string | undefined
  readonly sandboxDefault?: string
  /** Describes the default in the docs if {@link default} cannot. */
  readonly defaultNote?: string
  readonly describe: string
  readonly parse: Parser<T>
}
