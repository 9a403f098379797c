import { definitionOf, type Read, type SettingName } from './settings-table.ts'

export interface SettingProblem {
  /** Flag without dashes. Undefined if no setting is meant, such as for an unknown variable. */
  readonly setting: string | undefined
  /** Such as `--interval`, `PIPEWRIGHT_INTERVAL` or `pipewright.yaml:3`. */
  readonly from: string
  /** Undefined if no value was given, or if it might hold a secret. */
  readonly given: string | undefined
  readonly why: string
  readonly right: string
}

/** Shows a value only if it is a string, because a value parsed into an object can hold a secret. */
export function problemOf(
  name: SettingName,
  read: Read<unknown>,
  why: string,
  right: string,
): SettingProblem {
  const { flag } = definitionOf(name)
  const given = typeof read.value === 'string' ? read.value : undefined
  return { setting: flag, from: read.from ?? `--${flag}`, given, why, right }
}

export function formatProblems(problems: readonly SettingProblem[]): string {
  const title = problems.length === 1 ? '1 problem:' : `${problems.length} problems:`
  const lines = problems.map(({ from, given, why, right }) => {
    const shown = given === undefined ? '' : ` ${JSON.stringify(given)}`
    return `  ${from}${shown}: ${why}; ${right}`
  })
  return [title, ...lines].join('\n')
}
