import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { placesToWrite } from '../kinds/imported.ts'
import { type Key, nameOf } from '../kinds/key.ts'
import type { Fitted } from '../kinds/left-out.ts'
import { secretRefsIn } from '../kinds/secret-ref.ts'
import type { JsonObject } from '../lib/json.ts'
import { escapeControls } from '../lib/shown-text.ts'
import { CommandError, type Io, print, printJson } from './io.ts'

export interface Imported extends Fitted {
  readonly key: Key
  readonly pipeId: string
  /** Its name on the platform, safe to print. */
  readonly name: string
  /** `metadata.name` of its Service. */
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
    throw new CommandError(`import: ${folder} cannot be made (${codeOf(error)}). Give another --output-dir.`)
  })
  const problems: string[] = []
  for (const one of made) {
    const { key } = one
    const file = join(folder, `${nameOf(key)}.yaml`)
    await writeFile(file, textOf(one), { flag: 'wx' }).catch((error: unknown) => {
      const code = codeOf(error)
      const what = code === 'EEXIST' ? 'exists and is not overwritten' : `cannot be written (${code})`
      problems.push(`import: ${file} ${what}, so ${key} has no manifest there. Give another --output-dir.`)
    })
  }
  return problems
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

type Made = Imported & { readonly manifest: JsonObject }

/** Comments name fields to complete, and fields that no manifest has. */
function textOf({ manifest, leftOut }: Made): string {
  const refs = secretRefsIn(manifest).map(({ path, ref }) => `${path}: secret ${ref.name}, key ${ref.key}`)
  return [
    ...comment(
      'No secret is written here. Mount these, correct the references, or remove what the pipe does not use:',
      refs,
    ),
    ...comment(
      'The service does not say what these are. Write what the pipe has, or remove what it does not use:',
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
