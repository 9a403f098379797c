import { stringify } from 'yaml'
import { explainKind, explainPath, withFields, type FieldFacts } from '../../kinds/explain.ts'
import { MANIFEST_KINDS } from '../../kinds/lookup.ts'
import type { Profile } from '../../kinds/profile.ts'
import type { SettingsOf } from '../command-help.ts'
import { typedKind } from '../typed-key.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson } from '../io.ts'
import { fitLines, formatTable, type Paint, paintFor, widthOfTerminal, wrapped } from '../render/terminal.ts'

export const EXPLAIN_OUTPUTS = ['text', 'json'] as const

/** `pipewright explain [FIELD]`: what a field of a manifest means, what it takes, and whether it is compared. */
export function explain(
  io: Io,
  { profile }: SettingsOf<'explain'>,
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
  const found = explainPath(profile, path)
  if ('nearest' in found) {
    const places = placesOf(profile, path)
    const hint =
      places.length > 0
        ? placeWords(places)
        : found.nearest === undefined
          ? `The kinds are ${MANIFEST_KINDS.join(', ')}.`
          : `Did you mean ${found.nearest}?`
    throw new CommandError(`explain: there is no field ${JSON.stringify(path)}. ${hint}`, EXIT.usage)
  }
  if (output === 'json') printJson(io, found)
  else print(io.stdout, fieldText(found, { paint, width }))
  return EXIT.fine
}

/** Where fields are that end in what was asked for: below the kind that it begins with, or of any. */
function placesOf(profile: Profile, path: string): readonly string[] {
  const [first = '', ...rest] = path.split('.')
  const kind = typedKind(first)
  const isKind = MANIFEST_KINDS.includes(kind)
  const end = `.${isKind ? rest.join('.') : path}`.toLowerCase()
  return (isKind ? [kind] : MANIFEST_KINDS)
    .flatMap((name) => explainKind(profile, name) ?? [])
    .flatMap(withFields)
    .map((field) => field.path)
    .filter((known) => end !== '.' && known.replaceAll('[]', '').toLowerCase().endsWith(end))
}

const PLACES_NAMED = 3

function placeWords(places: readonly string[]): string {
  const rest = places.length - PLACES_NAMED
  return `There is ${places.slice(0, PLACES_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`
}

const MORE = 'For the fields of one: "pipewright explain pipe.spec".'

interface Look {
  readonly paint: Paint
  /** Columns of the terminal; undefined: as wide as it comes out. */
  readonly width: number | undefined
}

function fieldText(field: FieldFacts, look: Look): string {
  const { paint } = look
  const { path, name, type, isRequired, meaning, allowed, compared, changed, isSensitive, fields } = field
  const facts: readonly (readonly [string, string])[] = [
    ['type', type],
    ...(allowed.length === 0 ? [] : [['one of', allowed.join(', ')] as const]),
    ['required', isRequired ? 'yes' : 'no'],
    ['compared', compared],
    ...(changed === undefined ? [] : [['changed', changed] as const]),
    ...(isSensitive ? [['sensitive', 'yes: it is shown nowhere'] as const] : []),
  ]
  const example = stringify({ [name]: field.example }, { aliasDuplicateObjects: false }).trimEnd()
  return [
    paint('bold', path),
    '',
    wrapped(meaning, ''),
    '',
    formatTable(facts.map(([label, value]) => [`  ${label}`, value])),
    ...(path.includes('.') ? ['', 'Example:', example.replaceAll(/^/gm, '  ')] : []),
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
