import type { Settings } from '../../config/settings.ts'
import { MANIFEST_KINDS } from '../../kinds/lookup.ts'
import { kindJsonSchema, manifestJsonSchema } from '../../kinds/json-schema.ts'
import { EXIT, type ExitCode, type Io, printJson, misuse } from '../io.ts'
import { didYouMean, typedKind } from '../typed-key.ts'

/** JSON Schema (draft 7) for editors. */
export function schema(io: Io, { profile }: Settings, _flags: object, name?: string): ExitCode {
  if (name === undefined) {
    printJson(io, manifestJsonSchema(profile))
    return EXIT.fine
  }
  const schemaOfKind = kindJsonSchema(profile, typedKind(name))
  if (schemaOfKind === undefined) {
    const hint = didYouMean(name, MANIFEST_KINDS, `The kinds are ${MANIFEST_KINDS.join(', ')}.`)
    misuse(`there is no kind "${name}". ${hint}`)
  }
  printJson(io, schemaOfKind)
  return EXIT.fine
}
