import type { Command, Option } from 'commander'
import type { SettingProblem } from '../config/setting-problem.ts'
import { SETTINGS } from '../config/settings.ts'
import { nearestOf } from '../config/setting-sources.ts'

/*
 * How a command was called. commander ends with the first problem that it sees; a person wants all of them at once,
 * those of the settings too. So commander only takes the words apart, and what is wrong with them is found here.
 */

/** Unknown flags, values that are missing or not among the choices, and more arguments than there are. */
export function usageProblems(command: Command): readonly SettingProblem[] {
  const unknown = command.args.filter(isFlag).map((word) => unknownFlag(command, word))
  const values = command.options.flatMap((option) => valueProblem(command, option) ?? [])
  // A word after an unknown flag may be its value, so that nothing can be said of arguments then.
  const surplus = unknown.length > 0 ? [] : surplusArguments(command)
  return [...unknown, ...values, ...surplus]
}

function isFlag(word: string): boolean {
  return word.startsWith('-') && word !== '-'
}

/** Only its name is shown: what follows it may be a secret. */
function unknownFlag(command: Command, word: string): SettingProblem {
  const flag = word.split('=')[0] ?? word
  const known = command.options.flatMap(({ long }) => long ?? [])
  const why = `"${command.name()}" has no such flag`
  return { setting: undefined, from: flag, given: undefined, why, right: nearestOf(flag, known) }
}

function valueProblem(command: Command, option: Option): SettingProblem | undefined {
  const value: unknown = command.getOptionValue(option.attributeName())
  const { argChoices: choices, long } = option
  const problem = { setting: undefined, from: long ?? option.flags }
  if (choices !== undefined && typeof value === 'string' && !choices.includes(value)) {
    return {
      ...problem,
      given: value,
      why: 'it is not one of the words known',
      right: `give ${choices.join(', ')}`,
    }
  }
  const readElsewhere = SETTINGS.some(({ flag }) => long === `--${flag}`)
  if (value !== true || !option.optional || readElsewhere) return undefined
  return {
    ...problem,
    given: undefined,
    why: 'it has no value',
    right: `give ${choices?.join(', ') ?? 'one'}`,
  }
}

function surplusArguments({ args, registeredArguments: wanted }: Command): readonly SettingProblem[] {
  return args.slice(wanted.length).map((word) => ({
    setting: undefined,
    from: 'argument',
    given: word,
    why:
      wanted.length === 0
        ? 'there are no arguments here'
        : `there is one too many (${wanted.length} at most)`,
    right: 'remove it',
  }))
}
