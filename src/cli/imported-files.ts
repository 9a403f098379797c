import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Fitted, LeftOut } from '../kinds/left-out.ts'
import { nameOf, type Key } from '../kinds/key.ts'
import type { Profile } from '../kinds/profile.ts'
import { secretRefsIn } from '../kinds/secret-ref.ts'
import type { JsonObject } from '../lib/json.ts'
import { parseFile } from '../manifest/validate/parse-file.ts'
import { createFindingRoom } from '../manifest/validate/parse-options.ts'
import { DEFAULT_LIMITS } from '../manifest/yaml/limits.ts'
import { withComment, writeNew } from './imported-text.ts'
import { CommandError, type Io, print, printJson } from './io.ts'

/** A pipe without a manifest, and its new manifest. */
export interface Imported {
  readonly key: Key
  readonly pipeId: string
  /** Its name on the platform, safe to print. */
  readonly name: string
  /** `metadata.name` of its Service. */
  readonly service: string
  readonly manifest: JsonObject | undefined
  /** The manifest as YAML, with a comment on top. Undefined: no manifest is possible. */
  readonly text: string | undefined
  /** Why no manifest is possible. */
  readonly why: string | undefined
  readonly leftOut: readonly LeftOut[]
}

/** The manifest as YAML, if reading it back finds no error. */
export function readBack(
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

/** @throws {CommandError} if a file is in the way; then none is written */
export async function writeAll(
  io: Io,
  all: readonly Imported[],
  { folder, output }: { readonly folder: string | undefined; readonly output: 'yaml' | 'json' },
): Promise<void> {
  if (folder === undefined && output === 'json') return printJson(io, all.map(asJson))
  const made = all.flatMap(({ text, key }) =>
    text === undefined ? [] : [{ text, file: join(folder ?? '', `${nameOf(key)}.yaml`) }],
  )
  if (made.length === 0) return undefined
  if (folder === undefined) return print(io.stdout, made.map(({ text }) => text).join('---\n'))
  const taken = made.find(({ file }) => existsSync(file))
  if (taken !== undefined)
    throw new CommandError(`import: ${taken.file} exists. Nothing was written. Give another --output-dir.`)
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new CommandError(`import: ${folder} cannot be made (${code}).`)
  })
  for (const { file, text } of made) await writeNew(file, text)
  return undefined
}

function asJson(imported: Imported) {
  const { manifest } = imported
  const secrets = manifest === undefined ? [] : secretRefsIn(manifest)
  return { ...imported, text: undefined, secrets }
}
