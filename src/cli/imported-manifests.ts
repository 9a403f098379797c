import { fileErrorCode } from '../manifest/files/read-bytes.ts'
import { realpathSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { placesToWrite } from '../kinds/imported.ts'
import { type Key, nameOf } from '../kinds/key.ts'
import type { Fitted } from '../kinds/left-out.ts'
import { secretRefsIn } from '../kinds/secret-ref.ts'
import { isBelow } from '../lib/files.ts'
import type { JsonObject } from '../lib/json.ts'
import { escapeControls, printable } from '../lib/shown-text.ts'
import { CommandError, type Io, print, printJson } from './io.ts'

export interface Imported extends Fitted {
  readonly key: Key
  readonly pipeId: string
  /** The pipe's name on the platform, with secrets masked. */
  readonly name: string
  readonly service: string
}

/** @returns problems with single files @throws {CommandError} if the folder cannot be made */
export async function writeManifests(
  io: Io,
  imported: readonly Imported[],
  {
    all,
    outputDir: folder,
    output,
  }: { readonly all?: true; readonly outputDir?: string; readonly output: 'yaml' | 'json' },
): Promise<readonly string[]> {
  const made = imported.filter((one): one is Made => one.manifest !== undefined)
  if (output === 'json') {
    const items = imported.map((one) => ({ ...one, secrets: one.manifest && secretRefsIn(one.manifest) }))
    printJson(io, all === true ? items : items[0])
  }
  if (made.length === 0) return []
  if (folder === undefined) {
    if (output === 'yaml') print(io.stdout, made.map(textOf).join('---\n'))
    return []
  }
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw new CommandError(
      `import: ${folder} cannot be created (${fileErrorCode(error)}). Give another --output-dir.`,
    )
  })
  const problems: string[] = []
  for (const one of made) {
    const { key } = one
    const file = join(folder, `${nameOf(key)}.yaml`)
    await writeFile(file, textOf(one), { flag: 'wx' }).catch((error: unknown) => {
      const code = fileErrorCode(error)
      const what = code === 'EEXIST' ? 'exists and is not overwritten' : `cannot be written (${code})`
      problems.push(`import: ${file} ${what}, so ${key} has no manifest there. Give another --output-dir.`)
    })
  }
  return problems
}

type Made = Imported & { readonly manifest: JsonObject }

/** YAML. Comments on top name the fields to complete, and the fields that no manifest can have. */
function textOf({ manifest, leftOut }: Made): string {
  const refs = secretRefsIn(manifest).map(({ path, ref }) => `${path}: secret ${ref.name}, key ${ref.key}`)
  return [
    ...comment(
      'No secret is written here. Mount each of these secrets, or correct its reference. Remove fields that the pipe does not use:',
      refs,
    ),
    ...comment(
      'The service does not return these values. Write the values that the pipe has, or remove fields that it does not use:',
      placesToWrite(manifest),
    ),
    ...comment(
      'No manifest can have these fields. A new resource would lack them:',
      leftOut.flatMap(({ path, isUnknown }) => (isUnknown === true ? [path] : [])),
    ),
    stringify(manifest),
  ].join('\n')
}

function comment(head: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`# ${head}`, ...lines.map((line) => `#   ${escapeControls(line)}`)]
}

/** How many of a service's pipes have a manifest, or why they could not be listed. */
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

export function importReport(report: {
  readonly surveys: readonly Surveyed[]
  readonly all: readonly Imported[]
  readonly folder: string | undefined
  readonly problems: readonly string[]
  readonly manifests: string
}): readonly string[] {
  const { surveys, all, folder, problems, manifests } = report
  const made = all.filter(({ manifest }) => manifest !== undefined)
  const count = made.length - problems.length
  const lines = [
    ...surveys.flatMap(surveyLines),
    ...leftOutLines(made),
    ...all.filter(({ manifest }) => manifest === undefined).map(noManifestLine),
    ...problems,
    ...(folder !== undefined && count > 0 ? [`Files written to ${folder}: ${count}.`] : []),
    ...(folder !== undefined && count > 0 && !isBelow(realpathSync(folder), realpathSync(manifests))
      ? [`${folder} is outside --manifests: move the files into ${manifests}.`]
      : []),
    ...(count > 0
      ? [
          'No secret is written. Comments on top of a manifest, if any, name the secrets to mount and the values to fill in.',
          'Next, run "pipewright plan". It must say "adopt" for each manifest. Then commit the manifests. After the adoption, commit the Lock that "pipewright lock" prints. You can then remove policy.adopt.',
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
    `Pipes in Service/${service}: ${there}. With a manifest or a record: ${held}. Might belong to a manifest: ${wanted.length}. Others: ${free}.`,
    ...odd.map(
      (item) =>
        `Service/${service}: a resource in its list cannot be read, so no manifest is written for it: ${item}.`,
    ),
    ...wanted.map(
      ({ id, name, key }) =>
        `${key} might describe the pipe ${id} ("${name}"), so no new manifest is made. If ${key} describes another pipe, write a manifest of this one with policy.adopt: ${id}.`,
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
  const why = last === undefined ? '' : ` A manifest needs ${last.path}. ${last.why}`
  return `import: no manifest can be made of ${pipeId} ("${name}").${why} Write one, with policy.adopt: ${pipeId}.`
}
