import type { Key } from '../../kinds/key.ts'
import { printable } from '../../lib/shown-text.ts'
import { commandLine, type CommandContext } from '../../plan/step.ts'
import type { Imported } from '../imported-manifests.ts'

/** A service's list, counted by manifest, or the error. */
export type Surveyed = { readonly service: string } & (
  | { readonly problem: string }
  | {
      readonly there: number
      /** Pipes that a record, a manifest or a Lock names. */
      readonly held: number
      /** Pipes that a manifest or a pending create might still adopt. */
      readonly wanted: readonly { readonly id: string; readonly name: string; readonly key: Key }[]
      readonly odd: readonly string[]
    }
)

interface Report {
  readonly surveys: readonly Surveyed[]
  readonly all: readonly Imported[]
  readonly folder: string | undefined
  /** Of files that were not written. */
  readonly problems: readonly string[]
  readonly here: CommandContext
}

export function importReport({ surveys, all, folder, problems, here }: Report): readonly string[] {
  const made = all.filter(({ manifest }) => manifest !== undefined)
  const count = made.length - problems.length
  const lines = [
    ...surveys.flatMap(surveyLines),
    ...leftOutLines(made),
    ...all.filter(({ manifest }) => manifest === undefined).map(noManifestLine),
    ...problems,
    ...(folder !== undefined && count > 0 ? [`Files written to ${folder}: ${count}.`] : []),
    ...(count > 0
      ? [
          'No secret is written. Comments on top of a manifest name the secrets to mount and the values to fill in.',
          `Next, "${commandLine('plan', here)}" must say adopt for each of them. Once it is adopted, remove policy.adopt, or commit the Lock that "${commandLine('lock', here)}" prints.`,
        ]
      : []),
  ]
  return lines.map((line) => printable(line).replaceAll('\n', ' '))
}

function surveyLines(survey: Surveyed): readonly string[] {
  if ('problem' in survey) return [survey.problem]
  const { service, there, held, wanted, odd } = survey
  const free = there - held - wanted.length
  return [
    `Service/${service}: ${there} pipes, ${held} with a manifest or a record, ${wanted.length} that a manifest might mean, ${free} without.`,
    ...odd.map(
      (item) => `Service/${service}: an item of the list cannot be read and gets no manifest: ${item}.`,
    ),
    ...wanted.map(
      ({ id, name, key }) =>
        `${key} might mean ${id} ("${name}"), so that pipe gets no manifest. If it is another pipe, write one with policy.adopt.`,
    ),
  ]
}

function leftOutLines(made: readonly Imported[]): readonly string[] {
  const each = made.flatMap(({ key, leftOut }) =>
    leftOut.map(({ path, why }) => ({ key, line: `${path} is left out. ${why}` })),
  )
  return [...Map.groupBy(each, ({ line }) => line)].map(([line, all]) => {
    const [first, ...others] = new Set(all.map(({ key }) => key))
    const more = others.length === 0 ? '' : ` and ${others.length} more`
    return `${first}${more}: ${line}`
  })
}

function noManifestLine({ pipeId, name, leftOut }: Imported): string {
  const last = leftOut.at(-1)
  const why = last === undefined ? '' : ` ${last.path} would have to be there. ${last.why}`
  return `import: no manifest can be made of ${pipeId} ("${name}").${why} Write one, with policy.adopt: ${pipeId}.`
}
