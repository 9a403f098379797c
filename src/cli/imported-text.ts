import { writeFile } from 'node:fs/promises'
import { stringify } from 'yaml'
import { placesToWrite } from '../kinds/imported.ts'
import { secretRefsIn } from '../kinds/secret-ref.ts'
import type { JsonObject } from '../lib/json.ts'
import { CommandError } from './io.ts'

/** @throws {CommandError} when it is there, or cannot be written */
export async function writeNew(file: string, text: string): Promise<void> {
  await writeFile(file, text, { flag: 'wx' }).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    const why = code === 'EEXIST' ? 'is there already, and is left as it is' : `cannot be written (${code})`
    throw new CommandError(`import: ${file} ${why}.`)
  })
}

/** What a person has to look at stands at the top. */
export function withComment(manifest: JsonObject): string {
  const refs = secretRefsIn(manifest)
  const open = placesToWrite(manifest)
  const secrets = [
    '# No secret is written here. Mount these, correct the references, or remove what the pipe does not use:',
    ...refs.map(({ path, ref }) => `#   ${path}: secret ${ref.name}, key ${ref.key}`),
  ]
  const others = [
    '# The service does not say what these are. Write what the pipe has, or remove what it does not use:',
    ...open.map((path) => `#   ${path}`),
  ]
  return [
    ...(refs.length === 0 ? [] : secrets),
    ...(open.length === 0 ? [] : others),
    stringify(manifest),
  ].join('\n')
}
