import { Composer, Parser, type CST, type Document } from 'yaml'

/** Tokens that fit nowhere, in one part of a file: after so many, the rest of it is not looked at. */
const MOST_ERRORS = 100

/** `uniqueKeys` is off because it is quadratic: `convert` looks for repeated fields. */
const YAML_OPTIONS = {
  version: '1.2',
  schema: 'core',
  strict: true,
  uniqueKeys: false,
  stringKeys: true,
  prettyErrors: false,
  merge: false,
  resolveKnownTags: false,
  logLevel: 'silent',
} as const

export interface YamlStream {
  readonly documents: readonly Document.Parsed[]
  /** What was said outside of documents; empty when there is one. */
  readonly problems: readonly (Document['errors'][number] | Document['warnings'][number])[]
}

/** The documents of a text, as the parser sees them. Its cost is bounded also where nothing fits. */
export function yamlDocuments(text: string): YamlStream {
  const composer = new Composer(YAML_OPTIONS)
  const documents = [...composer.compose(firstTokens(new Parser().parse(text)))]
  if (documents.length > 0) return { documents, problems: [] }
  const { errors, warnings } = composer.streamInfo()
  return { documents, problems: [...errors, ...warnings] }
}

/** Each further token that fits nowhere costs the parser more than the one before. */
function* firstTokens(tokens: Iterable<CST.Token>): Generator<CST.Token> {
  let errors = 0
  for (const token of tokens) {
    yield token
    if (token.type === 'error') errors += 1
    if (errors >= MOST_ERRORS) return
  }
}

/** The part of a file that holds one document, as offsets. */
export interface Chunk {
  readonly start: number
  readonly end: number
}

/**
 * Where the documents of a file begin and end. A line that begins with `---` or `...` ends whatever stands
 * before it, quoted or not (YAML 1.2, 9.1.2): cutting there first keeps one broken document from swallowing the next.
 * Parts without content are left out; directives stay with the document that they precede.
 */
export function splitDocuments(text: string): readonly Chunk[] {
  const chunks: Chunk[] = []
  let start = 0
  for (const { at, next } of marks(text)) {
    const content = contentOf(text, start, at)
    if (content !== 'directives') {
      if (content === 'something') chunks.push({ start, end: next > at ? next : at })
      start = next
    }
  }
  if (contentOf(text, start, text.length) !== 'nothing') chunks.push({ start, end: text.length })
  return chunks
}

/** Each mark: where the part before it ends, and where the next one begins. */
function* marks(text: string): Generator<{ readonly at: number; readonly next: number }> {
  for (let line = 0; line < text.length;) {
    const end = text.indexOf('\n', line)
    const mark = text.startsWith('---', line) ? '-' : text.startsWith('...', line) ? '.' : ''
    const after = text[line + 3]
    if (
      mark !== '' &&
      (after === undefined || after === ' ' || after === '\t' || after === '\n' || after === '\r')
    ) {
      const nextLine = end < 0 ? text.length : end + 1
      if (mark === '.') yield { at: line, next: nextLine }
      else if (line > 0) yield { at: line, next: line }
    }
    if (end < 0) return
    line = end + 1
  }
}

function contentOf(text: string, start: number, end: number): 'nothing' | 'directives' | 'something' {
  let found: 'nothing' | 'directives' = 'nothing'
  for (let line = start; line < end;) {
    const newline = text.indexOf('\n', line)
    const stop = newline < 0 || newline > end ? end : newline
    const first = firstVisible(text, line, stop)
    if (first === '%' && text[line] === '%') found = 'directives'
    else if (first !== '' && first !== '#') {
      const bare = text.startsWith('---', line) && firstVisible(text, line + 3, stop)
      if (bare !== '' && bare !== '#') return 'something'
    }
    line = stop + 1
  }
  return found
}

function firstVisible(text: string, start: number, end: number): string {
  for (let at = start; at < end; at += 1) {
    const character = text[at] ?? ''
    if (character !== ' ' && character !== '\t' && character !== '\r') return character
  }
  return ''
}
