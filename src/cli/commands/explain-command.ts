import type { Settings } from '../../config/settings.ts'
import { stringify } from 'yaml'
import { explainKind, type FieldFacts, findField } from '../../kinds/explain.ts'
import { MANIFEST_KINDS } from '../../kinds/lookup.ts'
import { EXIT, type ExitCode, type Io, print, printJson, misuse } from '../io.ts'
import { fitLines, formatTable, type Sheet, sheetOf, wrapped } from '../render/terminal.ts'

export function explain(
  io: Io,
  { profile }: Settings,
  { output }: { readonly output: 'text' | 'json' },
  path?: string,
): ExitCode {
  if (path === undefined) {
    const kinds = MANIFEST_KINDS.flatMap((name) => explainKind(profile, name) ?? [])
    if (output === 'json') printJson(io, kinds)
    else print(io.stdout, `${fieldTable(kinds, sheetOf(io))}\n\n${MORE}`)
    return EXIT.fine
  }
  const found = findField(profile, path)
  if (!('field' in found)) {
    const { meant } = found
    const more = meant.length > MAX_MEANT ? ` or ${meant.length - MAX_MEANT} more` : ''
    const hint =
      meant.length === 0
        ? `The kinds are ${MANIFEST_KINDS.join(', ')}.`
        : `Did you mean ${meant.slice(0, MAX_MEANT).join(', ')}${more}?`
    misuse(`explain: there is no field ${JSON.stringify(path)}. ${hint}`)
  }
  if (output === 'json') printJson(io, found.field)
  else print(io.stdout, fieldText(found.field, sheetOf(io)))
  return EXIT.fine
}

const MAX_MEANT = 3

const MORE = 'To see the fields of a kind, run "pipewright explain pipe.spec".'

function fieldText(field: FieldFacts, sheet: Sheet): string {
  const { paint } = sheet
  const { path, name, type, isRequired, meaning, allowed, example, compared, changed, isSensitive, fields } =
    field
  const facts: readonly (readonly [string, string])[] = [
    ['type', type],
    ...(allowed.length === 0 ? [] : [['one of', allowed.join(', ')] as const]),
    ['required', isRequired ? 'yes' : 'no'],
    ['compared', compared],
    ...(changed === undefined ? [] : [['changed', changed] as const]),
    ...(isSensitive ? [['sensitive', 'yes: its value is never shown'] as const] : []),
  ]
  return [
    paint('bold', path),
    '',
    wrapped(meaning, ''),
    '',
    formatTable(facts.map(([label, value]) => [`  ${label}`, value])),
    ...(example === undefined
      ? []
      : ['', `Example: ${name}: ${stringify(example, { collectionStyle: 'flow', lineWidth: 0 }).trim()}`]),
    ...(fields.length === 0 ? [] : ['', 'Fields:', fieldTable(fields, sheet)]),
  ].join('\n')
}

function fieldTable(fields: readonly FieldFacts[], { paint, width }: Sheet): string {
  const table = formatTable(
    fields.map(({ name, type, isRequired, meaning }) => [
      `  ${paint('bold', name)}`,
      isRequired ? `${type}, required` : type,
      meaning,
    ]),
  )
  return fitLines(table, width)
}
