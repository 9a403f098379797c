import type { Json } from '../../lib/json.ts'
import type { Settings } from '../../config/settings.ts'
import { stringify } from 'yaml'
import { explainKind, type FieldFacts, findField } from '../../kinds/explain.ts'
import { MANIFEST_KINDS } from '../../kinds/lookup.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson } from '../io.ts'
import { fitLines, formatTable, type Paint, paintFor, widthOfTerminal, wrapped } from '../render/terminal.ts'

export const EXPLAIN_OUTPUTS = ['text', 'json'] as const

/** `pipewright explain [FIELD]`: what a field of a manifest means, what it takes, and whether it is compared. */
export function explain(
  io: Io,
  { profile }: Settings,
  { path, output }: { readonly path: string | undefined; readonly output: (typeof EXPLAIN_OUTPUTS)[number] },
): ExitCode {
  const paint = paintFor(io.stdout, io.env)
  const width = widthOfTerminal(io.stdout)
  if (path === undefined) {
    const kinds = MANIFEST_KINDS.flatMap((name) => explainKind(profile, name) ?? [])
    if (output === 'json') printJson(io, kinds)
    else print(io.stdout, `${fieldTable(kinds, { paint, width })}\n\n${MORE}`)
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
    throw new CommandError(`explain: there is no field ${JSON.stringify(path)}. ${hint}`, EXIT.usage)
  }
  if (output === 'json') printJson(io, found.field)
  else print(io.stdout, fieldText(found.field, { paint, width }))
  return EXIT.fine
}

const MAX_MEANT = 3

const MORE = 'For the fields of one: "pipewright explain pipe.spec".'

interface Look {
  readonly paint: Paint
  /** Columns of the terminal; undefined: as wide as it comes out. */
  readonly width: number | undefined
}

function fieldText(field: FieldFacts, look: Look): string {
  const { paint } = look
  const { path, name, type, isRequired, meaning, allowed, example, compared, changed, isSensitive, fields } =
    field
  const facts: readonly (readonly [string, string])[] = [
    ['type', type],
    ...(allowed.length === 0 ? [] : [['one of', allowed.join(', ')] as const]),
    ['required', isRequired ? 'yes' : 'no'],
    ['compared', compared],
    ...(changed === undefined ? [] : [['changed', changed] as const]),
    ...(isSensitive ? [['sensitive', 'yes: it is shown nowhere'] as const] : []),
  ]
  return [
    paint('bold', path),
    '',
    wrapped(meaning, ''),
    '',
    formatTable(facts.map(([label, value]) => [`  ${label}`, value])),
    ...(example === undefined ? [] : ['', `Example: ${name}: ${shown(example)}`]),
    ...(fields.length === 0 ? [] : ['', 'Fields:', fieldTable(fields, look)]),
  ].join('\n')
}

function fieldTable(fields: readonly FieldFacts[], { paint, width }: Look): string {
  const table = formatTable(
    fields.map(({ name, type, isRequired, meaning }) => [
      `  ${paint('bold', name)}`,
      isRequired ? `${type}, required` : type,
      meaning,
    ]),
  )
  return fitLines(table, width)
}

function shown(example: Json): string {
  return stringify(example, { collectionStyle: 'flow', lineWidth: 0 }).trim()
}
