import { join, resolve, basename, dirname } from 'node:path'
import {
  type SettingProblem,
  problemOf,
  parseSettingsFile,
  readEnvironment,
  readFlags,
  type Environment,
  type Flags,
  type Given,
} from './setting-sources.ts'
import { DEFAULT } from '../kinds/profiles/default/profile.ts'
import { checkRules, isUnchecked, uncheckedProblems } from './setting-rules.ts'
import { readProxies } from './proxy-settings.ts'
import type { ProxySettings } from '../lib/proxy.ts'
import {
  SETTING_NAMES,
  DEFINITIONS,
  type SettingName,
  type SettingValues,
  type Read,
  type ReadValues,
  type SettingDefinition,
} from './settings-table.ts'
import { realpathSync } from 'node:fs'
import type { WebhookUrl } from '../lib/webhook-url.ts'
import { isBelow } from '../lib/files.ts'
import { shellWord } from '../plan/step.ts'

/** Frozen. Paths are as given, relative to the working directory. */
export interface Settings extends Omit<SettingValues, 'alertsTokenFile'> {
  readonly alertsTokenFile: string
  readonly proxies: ProxySettings
  readonly typed: readonly string[]
}

export const SETTINGS = Object.values(DEFINITIONS).map((definition) => ({
  ...definition,
  defaultText: defaultOf(definition).replaceAll('`', ''),
}))

export function settingsTable(): string {
  const rows = SETTINGS.map((definition) => [
    code(`--${definition.flag}${definition.placeholder === undefined ? '' : ` ${definition.placeholder}`}`),
    code(definition.env),
    defaultOf(definition),
    definition.describe,
  ])
  const table = [['flag', 'variable', 'default', 'what it is'], ['---', '---', '---', '---'], ...rows]
  // Escapes bars, which would end a table cell, even inside code.
  const lines = table.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
  return `${lines.join('\n')}\n`
}

function defaultOf({ default: text, defaultNote, sandboxDefault }: SettingDefinition): string {
  const standard = defaultNote ?? (text === undefined ? 'none' : code(text))
  return sandboxDefault === undefined ? standard : `${standard}; in the sandbox ${code(sandboxDefault)}`
}

function code(text: string): string {
  return `\`${text}\``
}

export interface SettingsInput {
  readonly flags: Flags
  readonly env: Environment
  readonly readFile: (path: string) => Promise<string>
  /** `platform or server`: the command needs no platform if `--server` names a daemon. */
  readonly needs: 'platform' | 'platform or server' | 'local'
}

type SettingsReading =
  | { readonly settings: Settings; readonly isTlsUnchecked: boolean }
  | { readonly problems: readonly SettingProblem[] }

/** A flag overrides a variable, a variable the file, and the file the default. @returns all problems together */
export async function readSettings(input: SettingsInput): Promise<SettingsReading> {
  const { env, needs } = input
  const lines = [...readFlags(input.flags), ...readEnvironment(env)]
  const config = lines.find((line) => 'name' in line && line.name === 'config')
  if (config !== undefined && 'name' in config) lines.push(...(await readFrom(config, input.readFile)))
  const given = lines.filter((line) => 'name' in line)
  const parsed = parse(given)
  const values = withDefaults(parsed.values)
  // An invalid value also counts as given, because another problem reports it.
  const names = (setting: SettingName) => given.some(({ name }) => name === setting)
  const reachesOthers = needs !== 'local' || names('server')
  const needsPlatform = needs === 'platform' || (needs === 'platform or server' && !names('server'))
  const lacksPlatform = needsPlatform && !names('baseUrl') && values.sandbox?.value === false
  const { proxies, problems: proxyProblems } = readProxies(env, values)
  const problems = [
    ...lines.filter((line) => 'why' in line),
    ...parsed.problems,
    ...checkRules(values),
    ...checkSecretFolders(values),
    ...(lacksPlatform ? [NO_PLATFORM] : []),
    ...(reachesOthers ? [...proxyProblems, ...uncheckedProblems(values, env)] : []),
  ]
  if (problems.length > 0) return { problems }
  const flags = given.flatMap(({ name, text, from }) => {
    const { group, flag, placeholder } = DEFINITIONS[name]
    if (from !== `--${flag}` || !REPEATED.includes(group)) return []
    return placeholder === undefined ? from : `${from} ${shellWord(text)}`
  })
  const typed = env['npm_command'] === undefined ? flags : ['npx', ...flags]
  const settings = normalise(values, { proxies, typed })
  return { settings, isTlsUnchecked: reachesOthers && isUnchecked(values, env) }
}

const REPEATED = ['General', 'Manifests', 'Platform', 'Ledger']

const NO_PLATFORM: SettingProblem = {
  from: '--base-url',
  why: 'it is not set, but this command needs the platform',
  right: `give --base-url URL or set ${DEFINITIONS.baseUrl.env}. Without an account, use --sandbox`,
}

async function readFrom(config: Given, readFile: SettingsInput['readFile']) {
  if (!DEFINITIONS.config.parse(config.text).ok) return [] // `parse` reports the problem
  try {
    return parseSettingsFile(config.text, await readFile(config.text))
  } catch (error) {
    const why = `the file cannot be read: ${error instanceof Error ? error.message : String(error)}`
    const right = 'name a YAML file that exists and is readable'
    return [{ from: config.from, given: config.text, why, right }]
  }
}

/** Also parses overridden texts, because their mistakes must not surface later. */
function parse(given: readonly Given[]): { values: ReadValues; problems: readonly SettingProblem[] } {
  const values: Partial<Record<SettingName, Read<unknown>>> = {}
  const problems: SettingProblem[] = []
  for (const { name, text, from } of given) {
    const { parse: parser } = DEFINITIONS[name]
    const parsed = parser(text)
    if (parsed.ok) values[name] ??= { value: parsed.value, from }
    else {
      const shown = parsed.hide === true ? undefined : text
      problems.push({ from, given: shown, why: parsed.why, right: parsed.right })
    }
  }
  return { values: values as ReadValues, problems } // each value comes from its own setting's parser
}

function withDefaults(given: ReadValues): ReadValues {
  const values: Partial<Record<SettingName, Read<unknown>>> = { ...given }
  const where = { sandbox: given.sandbox?.value === true, profile: given.profile?.value ?? DEFAULT }
  for (const name of SETTING_NAMES) {
    const { parse: parser } = DEFINITIONS[name]
    const standard = standardOf(name, where)
    const parsed = standard === undefined ? undefined : parser(standard)
    if (parsed?.ok === true) values[name] ??= { value: parsed.value, from: undefined }
  }
  return values as ReadValues // from each setting's parser
}

/** Default of a setting. In the sandbox, each profile but `default` has its own manifests, data folder and ledger. */
function standardOf(
  name: SettingName,
  { sandbox, profile }: Pick<Settings, 'sandbox' | 'profile'>,
): string | undefined {
  const { default: text, sandboxDefault } = DEFINITIONS[name]
  if (!sandbox) return text
  const standard = sandboxDefault ?? text
  if (profile.name === DEFAULT.name) return standard
  return name === 'manifests'
    ? `examples/${profile.name}`
    : standard?.replace(/^((?:sqlite:)?\.pipewright\/)/, `$1${profile.name}/`)
}

function normalise(values: ReadValues, { proxies, typed }: Pick<Settings, 'proxies' | 'typed'>): Settings {
  const plain: unknown = Object.fromEntries(
    SETTING_NAMES.map((name) => [name, Object.freeze(values[name]?.value)]),
  )
  return Object.freeze({
    ...(plain as Settings), // from each setting's parser; settings with a default have a value
    baseUrl: baseUrlOf(values),
    alertsTokenFile:
      values.alertsTokenFile?.value ?? join(values.credentialsDir?.value ?? '', 'alerts', 'token'),
    proxies: Object.freeze(proxies),
    typed,
  })
}

/** Removes a version such as `/v1`, because the platform's documentation adds it to addresses. */
function baseUrlOf({ baseUrl, profile }: ReadValues): string | undefined {
  const version = profile?.value.version
  if (baseUrl === undefined || version === undefined || !baseUrl.value.endsWith(version))
    return baseUrl?.value
  return baseUrl.value.slice(0, -version.length).replace(/\/+$/, '')
}

/** A manifest can name any file below `--secrets-dir`, so credentials and files in settings must be outside. */
function checkSecretFolders(values: ReadValues): readonly SettingProblem[] {
  const { credentialsDir, secretsDir } = values
  if (credentialsDir === undefined || secretsDir === undefined) return []
  const between = wayBetween(credentialsDir.value, secretsDir.value)
  if (between !== undefined) {
    const isSecrets = credentialsDir.from === undefined && secretsDir.from !== undefined
    const blamed = isSecrets ? 'secretsDir' : 'credentialsDir'
    const right =
      'use two directories: one for the credentials of the platform, one for the secrets of sources'
    return [problemOf(blamed, isSecrets ? secretsDir : credentialsDir, between, right)]
  }
  const why = `it is below --secrets-dir (${secretsDir.value}). If a manifest names this file, Pipewright sends its content to a source`
  const right = `keep the file elsewhere, such as below --credentials-dir (${credentialsDir.value})`
  return OWN_FILES.flatMap((name) => {
    const file = ownFileIn(values[name]?.value)
    if (file === undefined || !isIn(file, secretsDir.value)) return []
    return [problemOf(name, { value: file, from: values[name]?.from }, why, right)]
  })
}

function wayBetween(credentials: string, secrets: string): string | undefined {
  const [one, other] = [realPathOf(credentials), realPathOf(secrets)]
  const links =
    resolve(credentials) === one && resolve(secrets) === other ? '' : ', when their links are followed'
  if (one === other) return `--credentials-dir and --secrets-dir are the same directory${links}: ${one}`
  if (isIn(credentials, secrets))
    return `--credentials-dir (${credentials}) lies inside --secrets-dir (${secrets})${links}`
  if (isIn(secrets, credentials))
    return `--secrets-dir (${secrets}) lies inside --credentials-dir (${credentials})${links}`
  return undefined
}

/** Checks the path as written and with resolved links: a manifest can use both. */
function isIn(path: string, folder: string): boolean {
  return isBelow(resolve(path), resolve(folder)) || isBelow(realPathOf(path), realPathOf(folder))
}

const OWN_FILES = [
  'alertsTokenFile',
  'adminTokenFile',
  'clientKeyFile',
  'webhookUrl',
  'webhookSecretFile',
] as const

/** Pipewright's own secrets, which no manifest can send to a data source. */
export function ownFilesOf(settings: Settings): readonly string[] {
  return OWN_FILES.flatMap((name) => ownFileIn(settings[name]) ?? [])
}

function ownFileIn(value: string | WebhookUrl | undefined): string | undefined {
  if (typeof value !== 'object') return value
  return 'file' in value ? value.file : undefined
}

/** Resolves links, also of a missing path. */
function realPathOf(path: string): string {
  const whole = resolve(path)
  try {
    return realpathSync(whole)
  } catch {
    const parent = dirname(whole)
    return parent === whole ? whole : join(realPathOf(parent), basename(whole))
  }
}
