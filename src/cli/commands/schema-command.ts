import type { Settings } from '../../config/settings.ts'
import { MANIFEST_KINDS } from '../../kinds/lookup.ts'
import { kindJsonSchema, manifestJsonSchema } from '../../kinds/json-schema.ts'
import { nearest } from '../../lib/nearest.ts'
import { typedKind } from '../typed-key.ts'
import { CommandError, EXIT, type ExitCode, type Io, printJson } from '../io.ts'

/** `pipewright schema [kind]`: JSON Schema (draft 7) for editors. */
export function schema(io: Io, { profile }: Settings, name: string | undefined): ExitCode {
  if (name === undefined) {
    printJson(io, manifestJsonSchema(profile))
    return EXIT.fine
  }
  const schemaOfKind = kindJsonSchema(profile, typedKind(name))
  if (schemaOfKind === undefined) {
    const near = nearest(name, MANIFEST_KINDS)
    throw new CommandError(
      `there is no kind "${name}". ${near === undefined ? `The kinds are ${MANIFEST_KINDS.join(', ')}.` : `Did you mean ${near}?`}`,
      EXIT.usage,
    )
  }
  printJson(io, schemaOfKind)
  return EXIT.fine
}
