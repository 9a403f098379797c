/** One thing that is wrong with the settings. */
export interface SettingFault {
  /** Name of the flag, without dashes; `undefined` when no setting is meant, such as for a file that cannot be read. */
  readonly setting: string | undefined
  /** Where it was said: `--interval`, `PIPEWRIGHT_INTERVAL`, `pipewright.yaml:3`; or `nowhere`. */
  readonly from: string
  /** What was given; `undefined` when nothing was, or when it may hold a secret. */
  readonly given: string | undefined
  readonly why: string
  /** What would be right. */
  readonly right: string
}

/** Text for people: a line that says how many, and one for each. */
export function formatFaults(faults: readonly SettingFault[]): string {
  const title = faults.length === 1 ? 'One thing is wrong:' : `${faults.length} things are wrong:`
  return [title, ...faults.map(formatFault)].join('\n')
}

function formatFault({ from, given, why, right }: SettingFault): string {
  const shown = given === undefined ? '' : ` ${JSON.stringify(given)}`
  return `  ${from}${shown}: ${why}; ${right}`
}
