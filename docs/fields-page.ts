import { DEFAULT } from '../src/kinds/profiles/default/profile.ts'
import { stringify } from 'yaml'
import { explainKind, withFields, type FieldFacts } from '../src/cli/commands/explain-command.ts'
import { MANIFEST_KINDS } from '../src/kinds/lookup.ts'
import type { Profile } from '../src/kinds/profile.ts'
import { cell } from './table.ts'

/** docs/reference/fields.md: every field of every kind. @param note that it is generated */
export function fieldsPage(note: string, profile: Profile): string {
  const isDefault = profile.name === DEFAULT.name
  const flag = isDefault ? '' : ` --profile ${profile.name}`
  return `# Fields${isDefault ? '' : ` of ${profile.name}`}

${note}

Every field of every kind of manifest: its values, its meaning, and whether a difference between the manifest and the platform is
drift. \`pipewright explain pipe.spec.source.kafka${flag}\` says the same at the shell. [manifests.md](manifests.md) has the other rules.

${MANIFEST_KINDS.map((kind) => section(profile, kind)).join('\n\n')}
`
}

function section(profile: Profile, kind: string): string {
  const whole = explainKind(profile, kind)
  if (whole === undefined) throw new Error(`there is no kind ${kind}`)
  const isChanged = withFields(whole).some(({ changed }) => changed !== undefined)
  const rows = withFields(whole)
    .filter(({ path }) => path !== kind)
    .map((field) => [
      `\`${field.path.slice(kind.length + 1)}\`${field.isRequired ? ' (required)' : ''}`,
      typeWords(field),
      shortMeaning(field.meaning).cell,
      example(field),
      field.compared,
      ...(isChanged ? [field.changed ?? ''] : []),
    ])
  const head = isChanged
    ? ['| field | type | meaning | example | compared | changed |', '|---|---|---|---|---|---|']
    : ['| field | type | meaning | example | compared |', '|---|---|---|---|---|']
  const lines = rows.map((cells) => `| ${cells.map(cell).join(' | ')} |`)
  const notes = withFields(whole).flatMap(({ path, meaning }) => {
    const { note } = shortMeaning(meaning)
    return path === kind || note === '' ? [] : [`- \`${path.slice(kind.length + 1)}\`: ${note}`]
  })
  const below = notes.length === 0 ? '' : `\n\nMore about these fields:\n\n${notes.join('\n')}`
  return `## ${kind}\n\n${whole.meaning}\n\n${[...head, ...lines].join('\n')}${below}`
}

const MAX_CELL_WORDS = 25

/** A long meaning keeps only its first sentence in the table. The note goes below the table. */
function shortMeaning(meaning: string): { readonly cell: string; readonly note: string } {
  const [first = '', ...others] = meaning.split(/(?<=\.) (?=[A-Z`])/)
  if (meaning.split(/\s+/).length <= MAX_CELL_WORDS) return { cell: meaning, note: '' }
  return { cell: first, note: others.join(' ') }
}

function typeWords({ type, allowed, isSensitive }: FieldFacts): string {
  const words = allowed.length === 0 ? type : allowed.map((word) => `\`${word}\``).join(' or ')
  return isSensitive ? `${words}; sensitive` : words
}

function example({ example: value }: FieldFacts): string {
  if (value === undefined) return ''
  return `\`${stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim()}\``
}
