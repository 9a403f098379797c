import type { Key } from '../../kinds/key.ts'
import { placesToWrite } from '../../kinds/imported.ts'
import { secretRefsIn } from '../../kinds/secret-ref.ts'
import { printable } from '../../lib/shown-text.ts'
import { commandLine, commandsTyped, type CommandContext } from '../../server/command-line.ts'
import type { Imported, Target } from '../imported-files.ts'

/** What the list of a service showed. */
export interface Surveyed {
  readonly service: string
  /** Pipes in the list. */
  readonly there: number
  /** Of these, those that a record, a manifest or a Lock names. */
  readonly held: number
  /** Those that may become one of a manifest, or of a create, that has none yet. */
  readonly wanted: readonly { readonly id: string; readonly name: string; readonly key: Key }[]
  /** Those that have none. */
  readonly free: number
  /** Why it could not be listed. */
  readonly problem?: string
}

interface Summary {
  readonly surveys: readonly Surveyed[]
  readonly all: readonly Imported[]
  readonly target: Target
  /** Manifests with errors. */
  readonly invalid: number
  readonly here: CommandContext
}

/** Of one sort, so many are told. */
const TOLD = 20

/** Keys that one line names. */
const KEYS_NAMED = 3

/** What was found, what was made of it, and what is left to do: a line each, for a person. */
export function importSummary({ surveys, all, target, invalid, here }: Summary): readonly string[] {
  const made = all.filter(({ text }) => text !== undefined)
  const lines = [
    ...surveys.map(surveyLine),
    ...told(surveys.flatMap(({ wanted }) => wanted).map(wantedLine)),
    ...(made.length === 0 ? [] : [`${countOf(made.length, 'manifest')} ${wasOf(made)} ${placeOf(target)}.`]),
    ...told(leftOutLines(made)),
    ...told(all.filter(({ text }) => text === undefined).map(noManifestLine)),
    ...(made.length === 0 ? [] : toDo(made, { target, here })),
    ...(invalid === 0 || all.length === 0 ? [] : [invalidLine(invalid)]),
  ]
  return lines.map((line) => printable(commandsTyped(line, here)).replaceAll('\n', ' '))
}

function surveyLine({ service, there, held, wanted, free, problem }: Surveyed): string {
  if (problem !== undefined) return problem
  if (there === 0) return `Service/${service} has no pipes.`
  const parts = [
    `${held} ${held === 1 ? 'belongs' : 'belong'} to a manifest or a record already`,
    ...(wanted.length === 0 ? [] : [`${wanted.length} may yet`]),
    `${free} ${free === 1 ? 'has' : 'have'} none`,
  ]
  return `Service/${service}: of ${countOf(there, 'pipe')} ${parts.join(', ')}.`
}

function wantedLine({ id, name, key }: Surveyed['wanted'][number]): string {
  return `${key} asks for a pipe of the name "${name}" and has none yet, so that ${id} gets no other manifest. If it is another pipe, write one with policy.adopt.`
}

/** Each field with each reason once, whatever number of pipes has it. */
function leftOutLines(made: readonly Imported[]): readonly string[] {
  const each = made.flatMap(({ key, leftOut }) => leftOut.map(({ path, why }) => ({ key, path, why })))
  return [...Map.groupBy(each, ({ path, why }) => `${path} ${why}`).values()].map((group) => {
    const { path = '', why = '' } = group[0] ?? {}
    return `${path} of ${keysOf(group)} is left out. ${why}`
  })
}

function noManifestLine({ pipeId, name, why = '' }: Imported): string {
  return `no manifest can be made of ${pipeId} ("${name}"). ${why} Write one, with policy.adopt: ${pipeId}.`
}

function toDo(
  made: readonly Imported[],
  { target, here }: Pick<Summary, 'target' | 'here'>,
): readonly string[] {
  const manifests = made.flatMap(({ key, manifest }) => (manifest === undefined ? [] : [{ key, manifest }]))
  const secret = manifests.filter(({ manifest }) => secretRefsIn(manifest).length > 0)
  const open = manifests.filter(({ manifest }) => placesToWrite(manifest).length > 0)
  return [
    ...(secret.length === 0
      ? []
      : [
          `No secret is written: ${keysOf(secret)} ${secret.length === 1 ? 'refers' : 'refer'} to secrets that a comment on top names. Mount them, or name others.`,
        ]),
    ...(open.length === 0
      ? []
      : [`The service does not say all of ${keysOf(open)}: a comment on top names what is to be written.`]),
    `Then ${commandLine('plan', here)} must say adopt for each of them, and create for none${target.is === 'printed' ? ', once they are in the directory of the manifests' : ''}.`,
    afterAdoption(made.length),
  ]
}

/** What remains to do once the pipes of new manifests are adopted. */
export function afterAdoption(count: number): string {
  const [pipe, manifest] = count === 1 ? ['the pipe is', 'the manifest'] : ['the pipes are', 'the manifests']
  return `Once ${pipe} adopted, remove policy.adopt from ${manifest}, or commit the Lock that "pipewright lock" prints.`
}

function invalidLine(count: number): string {
  return `${countOf(count, 'manifest')} ${count === 1 ? 'has' : 'have'} errors: see "pipewright validate". What ${count === 1 ? 'it adopts' : 'they adopt'} may be among these pipes.`
}

function told(lines: readonly string[]): readonly string[] {
  if (lines.length <= TOLD) return lines
  return [...lines.slice(0, TOLD), `And ${lines.length - TOLD} more like that.`]
}

function keysOf(all: readonly { readonly key: Key }[]): string {
  const keys = [...new Set(all.map(({ key }) => key))]
  const rest = keys.length - KEYS_NAMED
  return rest <= 1
    ? keys.slice(0, KEYS_NAMED + 1).join(', ')
    : `${keys.slice(0, KEYS_NAMED).join(', ')} and ${rest} more`
}

function wasOf(made: readonly unknown[]): string {
  return made.length === 1 ? 'was' : 'were'
}

function placeOf(target: Target): string {
  switch (target.is) {
    case 'printed':
      return 'printed'
    case 'file':
      return `written to ${target.file}`
    case 'folder':
      return `written to ${target.folder}, a file each`
  }
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
