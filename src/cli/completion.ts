import type { Command, Option } from 'commander'
import { readFile } from 'node:fs/promises'
import { readSettings, SETTINGS, type Settings } from '../config/settings.ts'
import { explainPath } from '../kinds/explain.ts'
import { MANIFEST_KINDS, RESOURCE_KINDS } from '../kinds/lookup.ts'
import { DEFAULT } from '../kinds/profiles/default/profile.ts'
import { nearest } from '../lib/nearest.ts'
import { REASONS } from '../plan/reason.ts'
import { STATUSES } from '../plan/severity.ts'
import { openLedgerToRead } from './compose.ts'
import { CommandError, EXIT } from './io.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const

/** What the scripts call: this word, then the words of the line up to the cursor, the last of which may be empty. */
export const COMPLETE = '__complete'

const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: `_pipewright() {
  local IFS=$'\\n' current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=($(compgen -W "$(pipewright ${COMPLETE} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "$current"))
}
complete -o default -F _pipewright pipewright`,
  zsh: `#compdef pipewright
_pipewright() {
  local -a found
  found=("\${(@f)$(pipewright ${COMPLETE} "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -- $found; else _files; fi
}
compdef _pipewright pipewright`,
  fish: `function __pipewright_complete
  set -l words (commandline -opc) (commandline -ct)
  pipewright ${COMPLETE} $words[2..-1] 2>/dev/null
end
complete -c pipewright -a '(__pipewright_complete)'`,
}

/** @throws {CommandError} for a shell that is not known */
export function completionScript(shell: string): string {
  const known = SHELLS.find((name) => name === shell)
  if (known !== undefined) return SCRIPTS[known]
  const near = nearest(shell, SHELLS)
  const hint = near === undefined ? `It is one of ${SHELLS.join(', ')}.` : `Did you mean ${near}?`
  throw new CommandError(`there is no completion for "${shell}". ${hint}`, EXIT.usage)
}

/** Words that may stand where the cursor is. None: the shell offers files. */
export async function candidates(
  program: Command,
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  const current = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const command = program.commands.find((one) => one.name() === before[0])
  return (await possible(program, command, { current, before, env })).filter((word) =>
    word.startsWith(current),
  )
}

interface Line {
  readonly current: string
  readonly before: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

async function possible(
  program: Command,
  command: Command | undefined,
  line: Line,
): Promise<readonly string[]> {
  const { current, before } = line
  if (command === undefined)
    return before.length > 0 && before[0] !== 'help'
      ? []
      : [...program.commands.map((one) => one.name()), 'help']
  const option = takerOf(command, before.at(-1))
  if (option !== undefined) return valuesOf(option)
  if (current.startsWith('-'))
    return command.options.flatMap(({ long, hidden }) => (hidden ? [] : (long ?? [])))
  const [first] = command.registeredArguments
  const given = before.filter(
    (word, index) => index > 0 && !word.startsWith('-') && takerOf(command, before[index - 1]) === undefined,
  )
  if (first?.name() === 'shell') return SHELLS
  if (first?.name() === 'kind') return RESOURCE_KINDS
  if (first?.name() === 'field') return fieldPaths(line)
  if (first?.name() !== 'key' || given.length > 0) return []
  return keys(line)
}

/** One step further than what is typed. */
async function fieldPaths(line: Line): Promise<readonly string[]> {
  const { current } = line
  const parent = current.includes('.') ? current.slice(0, current.lastIndexOf('.')) : undefined
  if (parent === undefined) return MANIFEST_KINDS.map((kind) => kind.toLowerCase())
  const profile = (await settingsIn(line))?.profile ?? DEFAULT
  const found = explainPath(profile, parent)
  return 'nearest' in found ? [] : found.fields.map(({ name }) => `${parent}.${name}`)
}

/** The option that takes the word after it. */
function takerOf({ options }: Command, word: string | undefined): Option | undefined {
  return options.find(
    (option) => (option.long === word || option.short === word) && (option.required || option.optional),
  )
}

const VALUES: Readonly<Record<string, readonly string[]>> = {
  '--kind': RESOURCE_KINDS,
  '--status': STATUSES,
  '--reason': Object.keys(REASONS),
}

function valuesOf({ long, argChoices }: Option): readonly string[] {
  if (argChoices !== undefined) return argChoices
  return (long === undefined ? undefined : VALUES[long]) ?? []
}

/** Of the ledger that the line names. A completion never complains. */
async function keys(line: Line): Promise<readonly string[]> {
  try {
    const settings = await settingsIn(line)
    if (settings === undefined) return []
    await using ledger = await openLedgerToRead(settings)
    return (await ledger.list()).map((record) => record.key)
  } catch {
    return []
  }
}

/** What the line, so far, and the variables set; undefined: something is wrong with it. */
async function settingsIn({ before, env }: Line): Promise<Settings | undefined> {
  const flags = Object.fromEntries(
    before.flatMap((word, index): [string, string | true][] => {
      const setting = SETTINGS.find(({ flag }) => word === `--${flag}`)
      if (setting === undefined) return []
      return [[setting.flag, setting.placeholder === undefined ? true : (before[index + 1] ?? '')]]
    }),
  )
  const reading = await readSettings({ flags, env, readFile: (path) => readFile(path, 'utf8') })
  return 'problems' in reading ? undefined : reading.settings
}
