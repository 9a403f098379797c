import { access, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Fitted, LeftOut } from '../kinds/left-out.ts'
import type { Key } from '../kinds/key.ts'
import type { Profile } from '../kinds/profile.ts'
import { secretRefsIn } from '../kinds/secret-ref.ts'
import type { JsonObject } from '../lib/json.ts'
import { parseFile } from '../manifest/validate/parse-file.ts'
import { createFindingRoom } from '../manifest/validate/parse-options.ts'
import { DEFAULT_LIMITS } from '../manifest/yaml/limits.ts'
import { withComment, writeNew } from './imported-text.ts'
import { CommandError, type Io, print, printJson } from './io.ts'

/** A pipe without a manifest, and the one that it gets. */
export interface Imported {
  readonly key: Key
  readonly pipeId: string
  /** Its name there, as it may be shown. */
  readonly name: string
  /** `metadata.name` of its Service. */
  readonly service: string
  /** The name of its file, where each has its own. */
  readonly file: string
  readonly manifest: JsonObject | undefined
  /** The manifest as YAML, with a comment on top. Undefined: none can be made. */
  readonly text: string | undefined
  /** Why not. */
  readonly why: string | undefined
  readonly leftOut: readonly LeftOut[]
}

/** Where manifests go. */
export type Target =
  | { readonly is: 'printed'; readonly as: 'yaml' | 'json' }
  | { readonly is: 'file'; readonly file: string }
  | { readonly is: 'folder'; readonly folder: string }

/** The manifest as it stands in a file: read like every other, before it is given to anybody. */
export function written(
  profile: Profile,
  { manifest, leftOut }: Fitted,
): Pick<Imported, 'manifest' | 'text' | 'why' | 'leftOut'> {
  if (manifest === undefined) {
    const last = leftOut.at(-1)
    const why = last === undefined ? '' : `${last.path} would have to be there. ${last.why}`
    return { manifest, text: undefined, why, leftOut: leftOut.slice(0, -1) }
  }
  const text = withComment(manifest)
  const { documents, findings } = parseFile(
    { file: 'manifest.yaml', hash: '', bytes: Buffer.from(text) },
    { profile, limits: DEFAULT_LIMITS, room: createFindingRoom() },
  )
  const all = [...findings, ...documents.flatMap((document) => document.findings)]
  const wrong = all.find(({ severity }) => severity === 'error')
  return wrong === undefined
    ? { manifest, text, why: undefined, leftOut }
    : { manifest: undefined, text: undefined, why: wrong.message, leftOut }
}

/** @throws {CommandError} when a file is in the way: then none is written */
export async function writeAll(io: Io, all: readonly Imported[], target: Target): Promise<void> {
  const made = all.flatMap(({ text, file }) => (text === undefined ? [] : [{ text, file }]))
  if (target.is === 'folder') return writeFolder(target.folder, made)
  if (target.is === 'printed' && target.as === 'json') return printJson(io, all.map(asJson))
  if (made.length === 0) return undefined
  const stream = made.map(({ text }) => text).join('---\n')
  if (target.is === 'printed') return print(io.stdout, stream)
  const isTooMuch =
    made.length > DEFAULT_LIMITS.documents || Buffer.byteLength(stream) > DEFAULT_LIMITS.fileBytes
  if (isTooMuch)
    throw new CommandError(
      `import: ${made.length} manifests are more than one file may hold. Give --output-dir in place of --file.`,
    )
  return writeNew(target.file, stream)
}

/** Files that one message names, at most. */
const FILES_NAMED = 5

async function writeFolder(
  folder: string,
  made: readonly { readonly text: string; readonly file: string }[],
): Promise<void> {
  if (made.length === 0) return
  const there: string[] = []
  for (const { file } of made) if (await isThere(join(folder, file))) there.push(file)
  if (there.length > 0) {
    const more = there.length > FILES_NAMED ? ` and ${there.length - FILES_NAMED} more` : ''
    throw new CommandError(
      `import: in ${folder} there ${there.length === 1 ? 'is' : 'are'} already ${there.slice(0, FILES_NAMED).join(', ')}${more}. Nothing was written. ` +
        'Give another --output-dir.',
    )
  }
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new CommandError(`import: ${folder} cannot be made (${code}).`)
  })
  for (const { file, text } of made) await writeNew(join(folder, file), text)
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}

function asJson({ key, pipeId, name, service, manifest, why, leftOut }: Imported) {
  return {
    key,
    pipeId,
    name,
    service,
    manifest,
    why,
    leftOut: leftOut.map((one) => ({ path: one.path, why: one.why })),
    secrets: manifest === undefined ? [] : secretRefsIn(manifest),
  }
}
