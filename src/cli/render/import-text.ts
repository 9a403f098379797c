import type { Key } from '../../kinds/key.ts'
import { placesToWrite } from '../../kinds/imported.ts'
import { secretRefsIn } from '../../kinds/secret-ref.ts'
import { printable } from '../../lib/shown-text.ts'
import { commandLine, commandsTyped, type CommandContext } from '../../server/command-line.ts'
import type { Imported } from '../imported-files.ts'

/** The list of a service, sorted by manifest. */
export interface Surveyed {
  readonly service: string
  /** Pipes in the list. */
  readonly there: number
  /** Pipes that a record, a manifest or a Lock names. */
  readonly held: number
  /** Pipes that can still become the pipe of a manifest or of a pending create. */
  readonly wanted: readonly { readonly id: string; readonly name: string; readonly key: Key }[]
  /** Pipes without a manifest. */
  readonly free: number
  /** Items that cannot be read. */
  readonly odd: readonly string[]
  /** Why the service could not be listed. */
  readonly problem?: string
}

interface Summary {
  readonly surveys: readonly Surveyed[]
  readonly all: readonly Imported[]
  readonly folder: string | undefined
  /** Manifests with errors. */
  readonly invalid: number
  readonly here: CommandContext
}

/** The result of an import, and the steps that are left: a line each. */
export function importSummary({ surveys, all, folder, invalid, here }: Summary): readonly string[] {
  const made = all.filter(({ text }) => text !== undefined)
  const where = folder === undefined ? 'printed' : `written to ${folder}, a file each`
  const lines = [
    ...surveys.map(surveyLine),
    ...surveys.flatMap(({ service, odd }) => odd.map((item) => oddLine(service, item))),
    ...surveys.flatMap(({ wanted }) => wanted).map(wantedLine),
    ...(made.length === 0 ? [] : [`Manifests ${where}: ${made.length}.`]),
    ...leftOutLines(made),
    ...all.filter(({ text }) => text === undefined).map(noManifestLine),
    ...(made.some(({ manifest }) => isToComplete(manifest))
      ? [
          'No secret is written. Comments in the manifests name the secrets to mount and the values to fill in.',
        ]
      : []),
    ...(made.length === 0
      ? []
      : [`Next, ${commandLine('plan', here)} must say adopt for each of them.`, afterAdoption(made.length)]),
    ...(invalid === 0 || all.length === 0
      ? []
      : [
          `Manifests with errors: ${invalid}. They might adopt some of these pipes: see "pipewright validate".`,
        ]),
  ]
  return lines.map((line) => printable(commandsTyped(line, here)).replaceAll('\n', ' '))
}

function isToComplete(manifest: Imported['manifest']): boolean {
  return manifest !== undefined && (secretRefsIn(manifest).length > 0 || placesToWrite(manifest).length > 0)
}

function surveyLine({ service, there, held, wanted, free, problem }: Surveyed): string {
  const counts = `${there} pipes, ${held} with a manifest or a record, ${wanted.length} that a manifest might mean, ${free} without.`
  return problem ?? `Service/${service}: ${counts}`
}

function oddLine(service: string, item: string): string {
  return `Service/${service}: an item of the list cannot be read and gets no manifest: ${item}.`
}

function wantedLine({ id, name, key }: Surveyed['wanted'][number]): string {
  return `${key} might mean ${id} ("${name}"), so that pipe gets no manifest. If it is another pipe, write one with policy.adopt.`
}

/** Each field with each reason once, for all pipes. */
function leftOutLines(made: readonly Imported[]): readonly string[] {
  const each = made.flatMap(({ key, leftOut }) =>
    leftOut.map(({ path, why }) => ({ key, line: `${path} is left out. ${why}` })),
  )
  return [...Map.groupBy(each, ({ line }) => line)].map(([line, [first, ...others]]) => {
    const more = others.length === 0 ? '' : ` and ${others.length} more`
    return `${first?.key}${more}: ${line}`
  })
}

function noManifestLine({ pipeId, name, why = '' }: Imported): string {
  return `no manifest can be made of ${pipeId} ("${name}"). ${why} Write one, with policy.adopt: ${pipeId}.`
}

/** What remains to do once the pipes of new manifests are adopted. */
export function afterAdoption(count: number): string {
  const [pipe, manifest] = count === 1 ? ['the pipe is', 'the manifest'] : ['the pipes are', 'the manifests']
  return `Once ${pipe} adopted, remove policy.adopt from ${manifest}, or commit the Lock that "pipewright lock" prints.`
}
