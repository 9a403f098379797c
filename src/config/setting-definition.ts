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

/** One setting: a flag, a variable and a key of the file. */
export interface SettingDefinition<T = unknown> {
  /** Under which the help shows it. */
  readonly group: SettingGroup
  /** Without dashes in front; also the key in the file. */
  readonly flag: string
  /** What stands for the value in the help: `DIR`; `undefined` for a switch, which takes none. */
  readonly placeholder: string | undefined
  /** The variable, which is named after the flag. */
  readonly env: string
  /** The default as one would write it; `undefined` when there is none. */
  readonly default: string | undefined
  /** The default in the sandbox, where it is another one. */
  readonly sandboxDefault?: string
  /** Says in the docs what the default is, where {@link default} does not. */
  readonly defaultNote?: string
  readonly describe: string
  readonly parse: Parser<T>
}
